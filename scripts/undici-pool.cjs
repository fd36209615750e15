// What the build takes of undici (scripts/build.mjs): the pool and its requests, which are all that src/api/http.ts asks
// for. The package's own index.js loads fetch, WebSocket, mocks and caches too, at every start.
const Dispatcher = require('../node_modules/undici/lib/dispatcher/dispatcher.js');

Dispatcher.prototype.request = require('../node_modules/undici/lib/api/api-request.js');
exports.Pool = require('../node_modules/undici/lib/dispatcher/pool.js');
