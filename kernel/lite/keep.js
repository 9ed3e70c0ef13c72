// Registers the service worker for a page, and asks it to keep the whole site.
"use strict";

(() => {
	// patience is how long a page waits for the service worker before it goes on without:
	// what it loads until then is loaded once more to be kept.
	const patience = 3000;
	const lacking = "This page cannot be kept for offline use: serve it over https, or from localhost.";

	const workers = navigator.serviceWorker;
	const registered = workers ? workers.register(new URL("../service-worker.js", document.currentScript.src)) : Promise.reject(new Error(lacking));
	registered.catch(() => { });

	// answering resolves when the service worker answers this page, or does not in time.
	const answering = new Promise((resolve) => {
		registered.catch(resolve);
		setTimeout(resolve, patience);
		if (!workers || workers.controller) resolve();
		else workers.addEventListener("controllerchange", resolve, { once: true });
	});

	// keep brings what is missing of the site. say gets the number of files that are missing.
	async function keep(say = () => { }) {
		await registered;
		const { active } = await workers.ready;
		const { port1, port2 } = new MessageChannel();
		return new Promise((resolve, reject) => {
			port1.onmessage = ({ data: { left, failed } }) => {
				if (failed) reject(new Error(failed));
				else if (left) say(left);
				else resolve();
			};
			active.postMessage({ keep: true }, [port2]);
		});
	}

	globalThis.warpbook = Object.assign(globalThis.warpbook || {}, { answering, keep });
})();
