/**
 * The type of a column in the lake, also inside structs and lists. UBIGINT becomes DECIMAL(20,0), because Spark, Trino and Iceberg have no
 * unsigned 64-bit type; HUGEINT becomes DECIMAL(38,0), because DuckDB writes it as a double; JSON becomes text.
 * @param others what else is replaced, or not, in this format
 */
export function lakeType(type: string, others: Readonly<Record<string, string>> = {}): string {
  const replaced: Record<string, string> = {
    UBIGINT: 'DECIMAL(20,0)',
    HUGEINT: 'DECIMAL(38,0)',
    JSON: 'VARCHAR',
    ...others,
  };
  // Quoted parts are names of struct fields.
  return type.replace(/"(?:[^"]|"")*"|\b[A-Z]+\b/g, (part) => replaced[part] ?? part);
}
