// docs/runner-protocol.md says of each procedure and field of proto/ what is done with it.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { descriptors } from '../../src/http-runner/messages/descriptors.ts';

const page = readFileSync(new URL('../../docs/runner-protocol.md', import.meta.url), 'utf8');

interface Package {
  v1: { nested: Record<string, { fields?: Record<string, unknown>; methods?: Record<string, unknown> }> };
}
const packages = descriptors as Record<'runner' | 'ping', { nested: Package }>;
const types = [packages.ping, packages.runner].flatMap(({ nested }) => Object.entries(nested.v1.nested));
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The rows of the table whose head begins with a word. */
function rowsOf(head: string): string[][] {
  const from = page.indexOf(`| ${head} |`);
  const table = page.slice(from).split('\n\n')[0]!;
  return table
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

t.test('every procedure has a row, and every row is a procedure', async (t) => {
  const declared = types.flatMap(([, { methods = {} }]) => Object.keys(methods)).sort();
  t.strictSame(
    rowsOf('Procedure')
      .map(([name]) => name!.replaceAll('`', ''))
      .sort(),
    declared,
  );
  t.ok(declared.includes('FetchSingleTask'));
});

t.test('every field has a row with what is done, and every other row is one of Forgejo alone', async (t) => {
  const declared = types.flatMap(([name, { fields = {} }]) =>
    Object.keys(fields).map((one) => `${name}.${snake(one)}`),
  );
  let message = '';
  const listed = rowsOf('Message').map(([name = '', field = '', what = '']) => {
    if (name !== '') message = name.replaceAll('`', '');
    t.not(what, '', `${message}.${field}`);
    return `${message}.${field.replaceAll('`', '')}`;
  });
  const others = ['FetchTaskRequest.task_capacity (Forgejo)', 'FetchTaskResponse.additional_tasks (Forgejo)'];
  t.strictSame(listed.sort(), [...declared, ...others].sort());
});
