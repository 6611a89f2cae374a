'use strict';

// Swagger UI over the description that the server beside this page serves. The
// description names the public address of the deployment; calls made from here
// go to where the page came from, whichever name that has, because the page may
// call nobody else.
(function () {
  const here = new URL('.', document.baseURI).href.replace(/\/$/, '');
  const place = document.getElementById('description');

  // Swagger UI sends the examples of parameters along. Of those that may be left
  // out, such as a cursor, they would make a good call a bad one.
  function forgetOptionalExamples(description) {
    for (const item of Object.values(description.paths)) {
      for (const operation of Object.values(item)) {
        for (const parameter of operation.parameters || []) {
          if (!parameter.required) delete parameter.example;
        }
      }
    }
  }

  function show(description) {
    forgetOptionalExamples(description);
    const named = (description.servers || []).map((server) => server.url);
    description.servers = [{
      url: here,
      description: named.includes(here) ? 'this server' : 'this server, which the description calls ' + named.join(', '),
    }];
    window.SwaggerUIBundle({
      spec: description,
      domNode: place,
      deepLinking: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      persistAuthorization: false,
      validatorUrl: null,
      defaultModelsExpandDepth: 0,
      onComplete() { document.documentElement.dataset.ready = 'true'; },
    });
  }

  function fail(error) {
    place.className = 'failed';
    place.textContent = 'The description could not be loaded: ' + error.message + '. Reload the page to try again.';
  }

  fetch('openapi.json')
    .then((answer) => {
      if (!answer.ok) throw new Error('openapi.json answered ' + answer.status);
      return answer.json();
    })
    .then(show)
    .catch(fail);
})();
