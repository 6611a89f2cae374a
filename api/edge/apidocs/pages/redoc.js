'use strict';

// Redoc over the description that the server beside this page serves.
(function () {
  const place = document.getElementById('description');

  window.Redoc.init('openapi.json', {
    downloadUrls: [
      { title: 'OpenAPI 3.1', url: 'openapi.json' },
      { title: 'OpenAPI 3.0', url: 'openapi-3.0.json' },
    ],
    disableGoogleFont: true, // nothing comes from another host
    expandResponses: '200,202',
    pathInMiddlePanel: true,
    requiredPropsFirst: true,
    schemaExpansionLevel: 2,
    scrollYOffset: '.bar',
    theme: {
      colors: { primary: { main: '#1f6f8b' } },
      typography: {
        fontFamily: 'system-ui, "Liberation Sans", "DejaVu Sans", sans-serif',
        headings: { fontFamily: 'system-ui, "Liberation Sans", "DejaVu Sans", sans-serif' },
        code: { fontFamily: 'ui-monospace, "Liberation Mono", "DejaVu Sans Mono", monospace' },
      },
    },
  }, place, (error) => {
    if (error) {
      place.className = 'failed';
      place.textContent = 'The description could not be loaded: ' + error.message + '. Reload the page to try again.';
      return;
    }
    document.documentElement.dataset.ready = 'true';
  });
})();
