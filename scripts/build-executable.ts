/**
 * Makes dist/hearth: the pinned Node with the bundled program inside.
 *
 *   sources -> esbuild: chunks -> pkg: an executable that records which
 *   functions it compiles -> run it once -> pkg: the executable, with their
 *   compiled form beside the chunks, so that a start compiles almost nothing.
 *
 * Further measures for a short start, explained in their files: a command line loads the definitions of its own command
 * only (src/cli/command-groups.ts); chunks load libraries and parts of Node at their first use, and unused parts of
 * libraries are left out (executable/bundle.ts); garbage is first collected after the start
 * (executable/assemble-executable.ts); git's version is cached per program file (src/git/processes/cached-version.ts).
 * test/cli/lazy-loading.test.ts limits what a start may load.
 *
 * Two builds differ only in the recorded chunks; with --reproducible, which takes three recordings or more instead of
 * one, they give the same bytes, or end with an error where starts differ too often (executable/record-code-cache.ts).
 *
 * usage: scripts/build-executable [--if-changed] [--reproducible] [--runtime NODE [--arch arm64]] [--output FILE]
 *   --runtime  the Node program that becomes the executable, instead of the one that builds. One of another processor
 *              (--arch arm64) is started by qemu-user for the recording; Debian has it as qemu-user and
 *              libstdc++6-arm64-cross.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { contributorDocuments } from '../src/embedded/contributor-documents.ts';
import { packagedAssets } from '../src/embedded/packaged-assets.ts';
import { assembleExecutable } from './executable/assemble-executable.ts';
import { bundle, bundleTemplates } from './executable/bundle.ts';
import { recordCodeCache } from './executable/record-code-cache.ts';
import { stripSymbols } from './executable/strip-symbols.ts';

const project = join(import.meta.dirname, '..');
const { values: flags } = parseArgs({
  options: {
    'if-changed': { type: 'boolean' },
    reproducible: { type: 'boolean' },
    runtime: { type: 'string' },
    arch: { type: 'string' },
    output: { type: 'string' },
  },
});
const output = resolve(flags.output ?? join(project, 'dist/hearth'));
const arch = flags.arch ?? process.arch;
/** Runs a program of another processor, whose C library is below the folder. */
const emulator = arch === process.arch ? [] : ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu'];
const fingerprintFile = join(project, 'dist/.built-from');

/** Changes when any input of the executable does. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(process.version + process.arch);
  const inputs = [
    'src/**/*',
    'bin/*',
    'templates/**/*',
    'translations/*',
    'docs/*.md',
    'migrations/**/*',
    'scripts/**/*',
    'package*.json',
  ];
  for (const path of inputs.flatMap((pattern) => globSync(pattern, { cwd: project })).sort()) {
    const file = join(project, path);
    if ((await stat(file)).isFile()) hash.update(`\0${path}\0`).update(await readFile(file));
  }
  return hash.digest('hex');
}

async function assets(): Promise<Map<string, Buffer>> {
  const folder = join(project, 'templates/assets');
  const found = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.set(`assets/${path.slice(folder.length + 1)}`, await readFile(path));
  }
  for (const [name, file] of Object.entries(packagedAssets))
    found.set(`packed-assets/${name}`, brotliCompressSync(await readFile(join(project, file))));
  for (const file of globSync('translations/*.json', { cwd: project }))
    found.set(file, await readFile(join(project, file)));
  for (const file of globSync('docs/*.md', { cwd: project }).sort())
    if (!contributorDocuments.has(basename(file, '.md')))
      found.set(`${file}.gz`, gzipSync(await readFile(join(project, file)), { level: 9 }));
  return found;
}

async function buildExecutable(workFolder: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as { version: string };
  const folder = async (name: string): Promise<string> => {
    await mkdir(join(workFolder, name));
    return join(workFolder, name);
  };

  const node = join(workFolder, 'node');
  await writeFile(node, stripSymbols(await readFile(flags.runtime ?? process.execPath)));
  await chmod(node, 0o755);

  const loader = await readFile(join(project, 'scripts/executable/loader.cjs'), 'utf8');
  const script = (recording: boolean): string => loader.replaceAll('RECORDING', String(recording));
  const chunks = await bundle({ project, main: join(project, 'bin/hearth.ts'), version });
  chunks.set('templates', await bundleTemplates(project));
  const contents = new Map<string, string | Uint8Array>(await assets());
  for (const [name, source] of chunks) contents.set(`chunks/${name}`, source);

  const recorder = join(workFolder, 'recorder');
  await assembleExecutable({
    node,
    arch,
    script: script(true),
    assets: new Map([...contents, ['loader', script(true)]]),
    output: recorder,
    workFolder: await folder('recording'),
  });
  const code = await recordCodeCache({
    recorder,
    emulator,
    reproducible: flags.reproducible ?? false,
    chunks: [...chunks.keys()],
    workFolder: await folder('recorded'),
  });
  for (const [name, { bytes, runsAtStart }] of code) {
    if (runsAtStart) {
      contents.set(`code/${name}`, bytes);
      continue;
    }
    // Chunks that a start does not run may load some milliseconds slower.
    contents.delete(`chunks/${name}`);
    contents.set(`packed/${name}`, brotliCompressSync(chunks.get(name)!));
    contents.set(`packed-code/${name}`, brotliCompressSync(bytes));
  }

  await assembleExecutable({
    node,
    arch,
    script: script(false),
    assets: new Map([...contents, ['loader', script(false)]]),
    output,
    workFolder: await folder('final'),
  });
}

const now = await fingerprint();
const before = await readFile(fingerprintFile, 'utf8').catch(() => '');
if (flags['if-changed'] && before === now && existsSync(output)) process.exit(0);

const workFolder = await mkdtemp(join(tmpdir(), 'hearth-executable-'));
try {
  await buildExecutable(workFolder);
} finally {
  await rm(workFolder, { recursive: true, force: true });
}
const [program, ...words] = [...emulator, output];
const { stdout } = await promisify(execFile)(program!, [...words, '--version']);
const mebibytes = (await stat(output)).size / 2 ** 20;
if (flags.output === undefined) await writeFile(fingerprintFile, now);
console.log(`${flags.output ?? 'dist/hearth'}: ${stdout.trim()}, ${mebibytes.toFixed(1)} MiB`);
