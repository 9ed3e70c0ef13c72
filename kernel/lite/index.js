// Keeps the site for offline use from its first page, and says how far that is.
"use strict";

const say = (text) => { document.getElementById("kept").textContent = text; };
let done = false;

async function keep() {
	try {
		await warpbook.keep((left) => say(`The site is being kept for offline use: ${left} files are missing.`));
		say("The site works offline now.");
		done = true;
	} catch (e) {
		say(`The site could not be kept for offline use (${e.message}): it works while there is a connection.`);
	}
}

say("The site is being kept for offline use.");
keep();
// Another page that opened came first.
document.addEventListener("visibilitychange", () => { if (!document.hidden && !done) keep(); });
