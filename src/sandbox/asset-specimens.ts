/**
 * Oddities of single assets, by index, that break naive pipelines. Everything is JSON text, so that an answer has it
 * exactly as written here. Ticks do not change these assets (except for prices), so that a test can rely on one.
 */
export interface Specimen {
  name?: string;
  symbol?: string;
  description?: string;
  attributes?: string;
  /** Supply of a fungible (indexes that end in 7); '' leaves the key out. */
  supply?: string;
  jsonUri?: string;
  links?: string;
  /** Members added at the end of the record, with their leading comma. */
  extra?: string;
}

const fungibles: [number, Specimen][] = [
  [7, { name: '"USD Sample"', symbol: '"USDS"', supply: '18446744073709551615' }],
  [17, { name: '"Max as text"', supply: '"18446744073709551615"' }],
  [27, { name: '"Below nothing"', supply: '-1' }],
  [37, { name: '"Just above a double"', supply: '9007199254740993' }],
  [47, { name: '"Just above i64"', supply: '9223372036854775808' }],
  [57, { name: '"Last digit"', supply: '12345678901234567891' }],
  [67, { name: '"No supply"', supply: '' }],
  [77, { name: '"Null supply"', supply: 'null' }],
  [87, { name: '"Zero"', supply: '0' }],
  [97, { name: '"Small text"', supply: '"42"' }],
];

const names: [number, Specimen][] = [
  [2, { name: '"cut pair \\ud83d"' }],
  [12, { name: '"\\ude00 tail first"' }],
  [22, { name: '"turned \\udc00\\ud800 round"' }],
  [3, { description: '"before\\u0000after"' }],
  [4, { description: '"it says \\"items\\":[{\\"id\\":\\"none\\"}], and \\\\ too: \\"},{\\""' }],
  [5, { name: '12345' }],
  [6, { name: '"🐉 龍の卵 №6 — Łódź 👩‍🚀"' }],
  [8, { name: '"caf\\u00e9 \\u2603 \\ud83d\\ude80 tab\\there\\/slash"' }],
  [9, { name: '""', symbol: '""', description: '""' }],
  [10, { name: 'null', symbol: 'null', description: 'null' }],
  [11, { name: '"مرحبا بالعالم"', symbol: '"١٢٣"' }],
  [13, { name: '"line\\nbreak\\r\\nand \\u001b[31mred"' }],
  [14, { name: '"; drop table assets; --"' }],
  [15, { name: '{"en":"an object for a name"}' }],
];

const shapes: [number, Specimen][] = [
  [20, { attributes: '[{"trait_type":"Level","value":7,"display_type":"number"},{"value":"no type"}]' }],
  [21, { attributes: '{"Mood":"calm","Lives":9,"Rare":true,"__proto__":"data"}' }],
  [23, { attributes: '[{"trait_type":1,"value":18446744073709551615},{"trait_type":"half","value":0.5}]' }],
  [24, { attributes: 'null' }],
  [25, { attributes: '[{"trait_type":"Nested","value":{"a":[1,2]}},{"trait_type":"None","value":null}]' }],
  [30, { jsonUri: '""' }],
  [31, { links: '{}' }],
  [32, { links: '{"image":null,"external_url":["https://example.com/a","https://example.com/b"]}' }],
  [33, { extra: ',"unknown_plugins":[{"type":"Teleport","exact":18446744073709551615}]' }],
  [34, { extra: ',"unknown_x":{"__proto__":{"polluted":true},"constructor":1}' }],
  [35, { extra: ',"inner":{"a":{"b":{"c":{"d":{"e":{"f":[[[[[[1]]]]]]}}}}}}' }],
];

const specimens: ReadonlyMap<number, Specimen> = new Map([...fungibles, ...names, ...shapes]);

/** The specimen at an index; undefined for an ordinary asset. */
export function specimenAt(index: number): Specimen | undefined {
  return specimens.get(index);
}
