/** Milliseconds between the tries to fetch a part of the app: about as long as a server takes to start again. */
const pauses = [200, 500, 1000, 2000, 4000];

// The loader of parts links a style sheet once, whether it comes or not.
const lost = new Set<HTMLLinkElement>();
window.addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') lost.add(target);
  },
  true,
);

function linkAgain() {
  for (const link of lost) link.replaceWith(link.cloneNode());
  lost.clear();
}

/**
 * A part of the app that is fetched when it is first needed. While the server is away it is asked for again, so that
 * a restart is a pause and not a page that failed; what a new release has replaced fails after the last try.
 */
export function chunk<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    for (const pause of pauses) {
      try {
        return await load();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, pause));
        linkAgain();
      }
    }
    return load();
  };
}
