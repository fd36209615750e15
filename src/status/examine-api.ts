import { describeKeyPlace } from '../api/key-place.ts';
import { realTiming } from '../api/timing.ts';
import type { Config } from '../config/config.ts';
import { findOperation, harmlessParams } from '../operations/catalogue.ts';
import type { Operation, Transport } from '../operations/operation.ts';
import { editorCommand } from '../shell-words.ts';
import { formatSeconds } from '../words.ts';
import type { Finding } from './examine-folder.ts';
import type { Probe, Prober } from './probe-api.ts';

/** The request that shows whether an interface answers and accepts the key: cheap, and most providers have it. */
const probes: Partial<Record<Transport, string>> = { rpc: 'getAsset', wallet: 'walletIdentity' };

/** Where clocks differ by more, `seen_at` is the time of the answers (`src/api/timing.ts`). */
const maxClockSkewMs = 10 * 60_000;

/** The operations that `doctor` calls: one for each interface with a URL, if it has one that only reads. Pure. */
export function chooseProbes(endpoints: Partial<Record<Transport, string>>): Operation[] {
  const names = Object.keys(endpoints).map((transport) => probes[transport as Transport]);
  return names.flatMap((name) => (name === undefined ? [] : (findOperation(name) ?? [])));
}

/** Calls each operation once, in turn, within the rate of its pool. @throws the signal's abort reason */
export async function askOnce(
  prober: Prober,
  operations: readonly Operation[],
  limits: Config['limits'],
  signal: AbortSignal,
): Promise<Probe[]> {
  const answers: Probe[] = [];
  for (const operation of operations) {
    const startedAt = Date.now();
    answers.push(await prober.ask(operation, harmlessParams(operation) ?? {}, signal));
    const restMs = 1000 / (limits[operation.pool]?.rps ?? 2) - (Date.now() - startedAt);
    if (operation !== operations.at(-1)) await realTiming.sleep(Math.max(0, restMs), signal);
  }
  return answers;
}

/** Whether an answer shows that the operation exists and the key is accepted. */
function isAnswer({ outcome }: Probe): boolean {
  return outcome === 'ok' || outcome === 'no_data';
}

/** `answered in 120 ms, this clock is 0.3 s ahead, x-ratelimit-remaining: 9`. Pure. */
export function describeProbe(probe: Probe): string {
  const { operation, latencyMs, aheadMs, limits } = probe;
  const parts = [
    `${operation} ${isAnswer(probe) ? 'answered' : `ended as ${wordOf(probe)}`} in ${latencyMs} ms`,
  ];
  if (aheadMs !== null) parts.push(`clocks differ by ${formatSeconds(Math.abs(aheadMs) / 1000)}`);
  parts.push(...Object.entries(limits).map(([name, value]) => `${name}: ${value}`));
  return parts.join(', ');
}

/** `rejected (HTTP 400, code -32602)`. */
function wordOf({ outcome, status, code }: Probe): string {
  const details = [status === null ? null : `HTTP ${status}`, code === null ? null : `code ${code}`];
  const shown = details.filter((detail) => detail !== null).join(', ');
  return outcome.replace('_', ' ') + (shown === '' ? '' : ` (${shown})`);
}

/** Whether the provider does not have the operation. Pure. */
export function isMissing({ outcome, status, code, said }: Probe): boolean {
  if (isAnswer({ outcome } as Probe)) return false;
  return (
    code === -32601 || status === 404 || /method.{0,20}(not (found|supported|available)|unknown)/i.test(said)
  );
}

/** The problems that one answer shows. Pure. @param keyRepair the command that changes the key */
export function listFaults(probe: Probe, config: Pick<Config, 'keyPlaces'>, keyRepair: string): Finding[] {
  const { transport, origin, outcome, said, aheadMs, operation } = probe;
  const find = (message: string, repair: string, exitCode: number, note?: string): Finding => {
    const text = `${transport} at ${origin}: ${message}${said === '' ? '' : `: ${said}`}`;
    return { about: 'api', message: text, repair, exitCode, ...(note === undefined ? {} : { note }) };
  };
  const findings: Finding[] = [];
  if (aheadMs !== null && Math.abs(aheadMs) > maxClockSkewMs)
    findings.push({
      about: 'clock',
      message: `this clock is ${formatSeconds(Math.abs(aheadMs) / 1000)} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${origin}`,
      repair: 'sudo timedatectl set-ntp true',
      exitCode: 0,
    });
  if (isAnswer(probe)) return findings;
  if (outcome === 'key_refused') {
    const keyUse = describeKeyPlace(config.keyPlaces[transport]);
    const note = `it is sent as ${keyUse}; where the provider wants it elsewhere: api.auth.${transport} in ledgerlake.yaml`;
    findings.push(find('the key is refused', keyRepair, 77, note));
  } else if (probe.status === 404 && config.keyPlaces[transport].in === 'path')
    findings.push(
      find('nothing is at this path', keyRepair, 77, 'a wrong key, or a wrong path of the URL, looks so'),
    );
  else if (isMissing(probe))
    findings.push(find(`${operation} is not there`, 'ledgerlake doctor --methods', 0));
  else if (outcome === 'unreachable') findings.push(find('no connection', `curl -I ${origin}`, 69));
  else if (outcome === 'credits_gone') findings.push(find('its credits are spent', 'ledgerlake status', 69));
  else if (outcome === 'throttled' || outcome === 'try_again')
    findings.push(
      find('too many requests', `${editorCommand} ledgerlake.yaml`, 0, 'api.limits: what your plan allows'),
    );
  else if (outcome === 'forbidden' || outcome === 'rejected')
    findings.push(find(`${operation} is ${outcome}`, 'ledgerlake doctor --methods', 0));
  else findings.push(find(`it failed (${wordOf(probe)})`, 'ledgerlake doctor', 69, 'again in a few minutes'));
  return findings;
}

/** Whether a provider has an operation, in a few words. Pure. */
export function describeMethod(probe: Probe): string {
  const { outcome } = probe;
  if (outcome === 'ok') return 'yes';
  if (outcome === 'no_data') return 'yes, nothing under this id';
  if (outcome === 'key_refused') return 'the key is refused';
  if (isMissing(probe)) return 'not there';
  if (outcome === 'forbidden') return 'not in the plan';
  if (outcome === 'rejected') return 'there, but refuses these parameters';
  return `unknown: ${wordOf(probe)}`;
}
