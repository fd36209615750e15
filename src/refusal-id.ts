import { createHash } from 'node:crypto';

/**
 * The id of a refusal that publish does not give one (sql/publish/refusal-ids.sql does): the same for the same finding. A letter
 * first, so that no shell, spreadsheet or YAML file reads it as a number. Pure.
 */
export function refusalId(finding: string): string {
  return `r${createHash('sha256').update(finding).digest('hex').slice(0, 8)}`;
}
