import { badParams, type ParamRule, type RpcMethod } from './rpc-method.ts';

/**
 * Checks parameters as the reference server does: an unknown or mistyped one is refused by name.
 * Returns them without those that are null (which mean the same as absent ones).
 * @throws RpcError -32602
 */
export function checkParams(method: RpcMethod, params: unknown): Record<string, unknown> {
  const checked = checkObject(params ?? {}, method.params, '');
  for (const name of method.required) {
    if (checked[name] === undefined) throw badParams(`missing parameter \`${name}\``);
  }
  return checked;
}

function checkObject(
  value: unknown,
  rules: { readonly [name: string]: ParamRule },
  path: string,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badParams(`\`${path === '' ? 'params' : path}\` must be an object`);
  }
  const checked: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const where = path === '' ? name : `${path}.${name}`;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      throw badParams(`unknown parameter \`${where}\`, expected one of ${Object.keys(rules).join(', ')}`);
    }
    if (member !== null) checked[name] = checkValue(member, rule, where);
  }
  return checked;
}

function checkValue(value: unknown, rule: ParamRule, where: string): unknown {
  if (typeof rule === 'object' && !isWordList(rule)) return checkObject(value, rule, where);
  const [fits, wanted] = judge(value, rule);
  if (!fits) throw badParams(`\`${where}\` must be ${wanted}`);
  return value;
}

function judge(value: unknown, rule: Exclude<ParamRule, { readonly [name: string]: ParamRule }>) {
  if (isWordList(rule)) return [rule.includes(value as string), `one of ${rule.join(', ')}`] as const;
  if (rule === 'string') return [typeof value === 'string', 'a string'] as const;
  if (rule === 'boolean') return [typeof value === 'boolean', 'a boolean'] as const;
  if (rule === 'integer')
    return [Number.isSafeInteger(value) && (value as number) >= 0, 'an integer'] as const;
  return [
    Array.isArray(value) && value.every((one) => typeof one === 'string'),
    'a list of strings',
  ] as const;
}

function isWordList(rule: ParamRule): rule is readonly string[] {
  return Array.isArray(rule);
}
