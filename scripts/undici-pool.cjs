// The part of undici that scripts/build.mjs bundles: the pool and its requests, which is all that src/api/http.ts uses. The
// package's own index.js also loads fetch, WebSocket, mocks and caches at every start.
const Dispatcher = require('../node_modules/undici/lib/dispatcher/dispatcher.js');

Dispatcher.prototype.request = require('../node_modules/undici/lib/api/api-request.js');
exports.Pool = require('../node_modules/undici/lib/dispatcher/pool.js');
