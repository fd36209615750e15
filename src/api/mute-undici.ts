/**
 * Imported before undici: with NODE_DEBUG it would print the path of every request, and the key with it. Node has read
 * that variable before any of our code runs, and undici, Node's own too, asks for its log once, when it is loaded.
 */
import util from 'node:util';

const { debuglog } = util;
const mute = Object.assign(() => {}, { enabled: false });
const askLog: typeof debuglog = (name, onEnabled) =>
  /^(undici|fetch|websocket)/i.test(name) ? mute : debuglog(name, onEnabled);
Object.assign(util, { debuglog: askLog });
