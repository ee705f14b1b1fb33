// Compares the operations of Gitea's API with those of this server, from both OpenAPI documents, and writes
// docs/gitea-operations.json and the table of docs/gitea-operations.md.
//   node scripts/compare-gitea-operations.ts SWAGGER.json VERSION   with Gitea's document, as a Gitea serves it at
//                                                                   /swagger.v1.json: reads its operations anew
//   node scripts/compare-gitea-operations.ts                        with the operations that the file lists
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { operations } from '../src/http-api/v1/operations.ts';

/** An operation of Gitea, and what it is here. */
interface GiteaOperation {
  id: string;
  method: string;
  path: string;
  /** `later` and `refused` have a note. */
  state: 'built' | 'later' | 'refused';
  note?: string;
}

interface Table {
  version: string;
  operations: GiteaOperation[];
}

const tableFile = fileURLToPath(new URL('../docs/gitea-operations.json', import.meta.url));
const pageFile = fileURLToPath(new URL('../docs/gitea-operations.md', import.meta.url));

export const readTable = (): Table => JSON.parse(readFileSync(tableFile, 'utf8')) as Table;

const shapeOf = (method: string, path: string): string => `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;

/** Whether this server has an operation of Gitea: the same method and address, whatever the parameters are called. */
export function isBuilt({ method, path }: Pick<GiteaOperation, 'method' | 'path'>): boolean {
  const here = new Set(operations.map((one) => shapeOf(one.method, one.path)));
  // A format that Gitea has as a parameter is an address for each here.
  return path.endsWith('.{diffType}')
    ? ['diff', 'patch'].every((type) => here.has(shapeOf(method, path.replace('{diffType}', type))))
    : here.has(shapeOf(method, path));
}

/** Why what is missing is missing, by the beginning of the address. */
const reasons: readonly [start: RegExp, state: 'later' | 'refused', note: string][] = [
  [/\/badges/, 'refused', 'Users have no badges'],
  [/\/unadopted/, 'refused', 'Repositories are imported; existing folders cannot be adopted'],
  [/\/hooks\/git/, 'refused', 'User programs never run inside the server'],
  [
    /gpg_key_(?:token|verify)/,
    'refused',
    'A key’s addresses need no proof if they are verified addresses of its owner',
  ],
  [/signing-key\.gpg/, 'refused', 'The server signs with an SSH key: signing-key.pub'],
  [/^\/orgs\/\{org\}\/repos$/, 'refused', 'Repositories must be deleted individually, each by name'],
];

function stateOf(one: Pick<GiteaOperation, 'id' | 'method' | 'path'>): GiteaOperation {
  const { id, method, path } = one;
  if (isBuilt(one)) return { id, method, path, state: 'built' };
  const [, state, note] = reasons.find(([start]) => start.test(path)) ?? [/^/, 'later' as const, 'Not built yet'];
  return { id, method, path, state, note };
}

function pageOf({ version, operations: all }: Table): string {
  const count = (state: string): number => all.filter((one) => one.state === state).length;
  const row = ({ id, method, path, state, note = '' }: GiteaOperation): string =>
    `| \`${method} ${path}\` | ${id} | ${state} | ${note} |`;
  return `# Gitea's operations

Gitea ${version} has ${all.length} operations in its API. ${count('built')} are built here, ${count('later')} are planned, and ${count('refused')} are deliberately not supported. \`docs/gitea-operations.json\` contains the same data for programs. \`scripts/compare-gitea-operations.ts\` generates both files, and a test checks them.

## Not built

| Operation | Name | State | Why |
|---|---|---|---|
${all
  .filter(({ state }) => state !== 'built')
  .map(row)
  .join('\n')}

## Built

${all
  .filter(({ state }) => state === 'built')
  .map(({ method, path }) => `- \`${method} ${path}\``)
  .join('\n')}
`;
}

function operationsIn(file: string): Pick<GiteaOperation, 'id' | 'method' | 'path'>[] {
  // As a template of Gitea, it has marks around some values.
  const text = readFileSync(file, 'utf8').replaceAll(/\{\{[^}]*\}\}/g, '');
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, { operationId: id }]) => ({ id, method: method.toUpperCase(), path })),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, given] = process.argv.slice(2);
  const before = file === undefined ? readTable() : { version: given ?? '', operations: operationsIn(file) };
  const table: Table = { version: before.version, operations: before.operations.map(stateOf) };
  const lines = table.operations.map((one) => `    ${JSON.stringify(one)}`).join(',\n');
  writeFileSync(tableFile, `{\n  "version": ${JSON.stringify(table.version)},\n  "operations": [\n${lines}\n  ]\n}\n`);
  writeFileSync(pageFile, pageOf(table));
  const built = table.operations.filter(({ state }) => state === 'built').length;
  process.stdout.write(`${built} of ${table.operations.length} built\n`);
}
