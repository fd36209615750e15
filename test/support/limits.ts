const pool = '{rps: 5000, burst: 200, concurrency: 8}';

/** `limits` of servers without a limit: a run does not begin with two requests a second to find it out. */
export const noLimits = `limits: {${['das', 'compression', 'proof', 'fee', 'wallet', 'webhook'].map((name) => `${name}: ${pool}`).join(', ')}}`;

/** A `ledgerlake.yaml` with these limits, unless it has limits of its own. */
export function withoutLimits(config: string): string {
  if (config.includes('limits:')) return config;
  const [begun] = /^ *api: *\{/m.exec(config) ?? [];
  return begun === undefined
    ? // At the end: tests name lines.
      `${config.replace(/\n?$/, '\n')}api: {${noLimits}}\n`
    : config.replace(begun, `${begun} ${noLimits}, `);
}
