/** Parts of a service, any of which it may say that it lacks. */
const serviceParts =
  '(service|method|route|endpoint|path|page|url|host|backend|upstream|server|handler|function|application|database|table|relation|index|shard|store)';
/** Said of the service itself, "not found" says nothing of the resource that was asked for. */
const serviceLacks = new RegExp(
  `\\b${serviceParts}\\b[^.:;]{0,40}(not found|does not exist)|(unknown|no|no such) ${serviceParts}\\b|\\broute\\b|cannot (get|post)`,
  'i',
);

/** Whether an error's words say that the resource asked for is not there. */
export function saysUnknown(message: string): boolean {
  return /not found|unknown|does not exist|\bno\b/i.test(message) && !serviceLacks.test(message);
}

/** The forms in which the wallet interface says errors (API notes, "Wallet REST"): nothing else stands in them. */
const ownForms = [
  { all: ['error'], more: ['code', 'details'] },
  { all: ['message', 'statusCode'], more: ['error'] },
];

/** Whether an error's body has the wallet interface's own form, which a gateway's has not. */
export function isOwnError(body: Record<string, unknown>): boolean {
  const keys = Object.keys(body);
  return ownForms.some(
    ({ all, more }) =>
      all.every((key) => key in body) && keys.every((key) => [...all, ...more].includes(key)),
  );
}
