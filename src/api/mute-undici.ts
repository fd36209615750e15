/**
 * Mutes undici's debug log, and must be imported before undici. With NODE_DEBUG it would print the path of every request, and
 * the key with it. Node reads that variable before our code runs, and undici, Node's own copy too, asks for its log
 * once, when it is loaded.
 */
import util from 'node:util';

const { debuglog } = util;
const muted = Object.assign(() => {}, { enabled: false });
const createLog: typeof debuglog = (name, onEnabled) =>
  /^(undici|fetch|websocket)/i.test(name) ? muted : debuglog(name, onEnabled);
Object.assign(util, { debuglog: createLog });
