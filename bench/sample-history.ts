// The repository that is served: one given with --repository, or a generated one that is always the same.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { option } from './rounds.ts';

const commits = option('commits', 4000);

/** Puts a history into the bare repository at `target`, packed with a bitmap as maintenance would. */
export async function fillRepository(target: string): Promise<void> {
  const given = process.argv.indexOf('--repository');
  if (given !== -1) copyObjects(path.resolve(process.argv[given + 1]!), target);
  else await generate(target);
  execFileSync('git', ['-C', target, 'repack', '-adbq'], { stdio: 'inherit' });
}

function copyObjects(source: string, target: string): void {
  execFileSync('git', ['-C', target, 'fetch', '-q', source, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'], { stdio: 'inherit' });
  const head = execFileSync('git', ['-C', source, 'symbolic-ref', 'HEAD']).toString().trim();
  const branches = execFileSync('git', ['-C', target, 'for-each-ref', '--format=%(refname)', 'refs/heads']).toString().split('\n');
  execFileSync('git', ['-C', target, 'symbolic-ref', 'HEAD', branches.includes(head) ? head : branches[0]!]);
}

async function generate(target: string): Promise<void> {
  const importer = spawn('git', ['-C', target, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] });
  let state = 1;
  // A line nobody could guess compresses like source code does: a little.
  const line = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return `const value${state % 9973} = '${(state * 2654435761 % 2 ** 32).toString(36)}${state.toString(36)}';\n`;
  };
  for (let commit = 0; commit < commits; commit++) {
    const text = Array.from({ length: 200 }, line).join('');
    const message = `Change ${commit}\n`;
    const chunk =
      `commit refs/heads/main\ncommitter Alice <alice@example.org> ${1_700_000_000 + commit * 60} +0000\n` +
      `data ${message.length}\n${message}M 100644 inline src/part${commit % 40}/file${commit % 400}.ts\ndata ${text.length}\n${text}\n`;
    if (!importer.stdin.write(chunk)) await once(importer.stdin, 'drain');
  }
  importer.stdin.end();
  await once(importer, 'close');
}

export function copyRepository(source: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  cpSync(source, target, { recursive: true });
}
