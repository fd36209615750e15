/**
 * The type of a column in Parquet, also inside structs and lists. UBIGINT becomes DECIMAL(20,0), because Spark, Trino and Delta have no
 * unsigned 64-bit type; HUGEINT becomes DECIMAL(38,0), because DuckDB writes it as a double; JSON becomes text.
 */
export function lakeType(type: string): string {
  const replaced: Record<string, string> = {
    UBIGINT: 'DECIMAL(20,0)',
    HUGEINT: 'DECIMAL(38,0)',
    JSON: 'VARCHAR',
  };
  // Quoted parts are names of struct fields.
  return type.replace(/"(?:[^"]|"")*"|\b(?:UBIGINT|HUGEINT|JSON)\b/g, (part) => replaced[part] ?? part);
}
