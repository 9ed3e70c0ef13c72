// Numbers of modules are made from absolute paths, names are not: equal checkouts make
// equal sites.
module.exports = { optimization: { moduleIds: "named" } };
