// Registers the service worker, and says when the site works offline.
"use strict";

const kept = (text) => { document.getElementById("kept").textContent = text; };
if (!("serviceWorker" in navigator)) {
	kept("This page cannot be kept for offline use: serve it over https, or from localhost.");
} else {
	kept("The site is being kept for offline use.");
	navigator.serviceWorker.register("service-worker.js")
		.then(() => navigator.serviceWorker.ready)
		.then(() => kept("The site works offline now."), (e) => kept(`The site could not be kept for offline use (${e.message}): it works while there is a connection.`));
}
