import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import type { compileTemplate } from 'pug';
import type Pug from 'pug';
import { templateOptions } from './template-options.ts';

const load = createRequire(import.meta.url);

/** A compiled template with its source files. */
interface CompiledTemplate {
  render: compileTemplate;
  /** The template itself first, then its includes and parents. */
  files: string[];
}

/** The content of a cache file. */
interface Stored {
  /** The version of pug that compiled it. */
  pug: string;
  /** Below the templates folder, each with the hash of its content. */
  files: [path: string, hash: string][];
  /** The body of a function that uses `pug`, the runtime of pug, and returns the template. */
  body: string;
}

/**
 * The function of a template of a checkout. Compiling the templates of one page takes as long as a hundred responses,
 * so their functions are cached in files, which are valid while no file of the template has changed.
 * @param cache folder, created when missing; if it is not writable, each process compiles for itself
 */
export function compileWithCache(templates: string, name: string, cache: string): CompiledTemplate {
  const file = join(cache, `${name.replaceAll('/', '+')}.json`);
  let stored = readStored(file, templates);
  if (stored === null) {
    stored = compile(templates, name);
    write(file, cache, stored);
  }
  const runtime = load(load.resolve('pug-runtime', { paths: [load.resolve('pug')] })) as unknown;
  return {
    render: new Function('pug', stored.body)(runtime) as compileTemplate,
    files: stored.files.map(([path]) => join(templates, path)),
  };
}

const pugVersion = (): string => (load('pug/package.json') as { version: string }).version;
const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('base64url');

function readStored(file: string, templates: string): Stored | null {
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Stored;
    if (stored.pug !== pugVersion()) return null;
    if (!stored.files.every(([path, hash]) => hashOf(join(templates, path)) === hash)) return null;
    return stored;
  } catch {
    return null;
  }
}

function compile(templates: string, name: string): Stored {
  // Loaded on first use: most commands never render a page.
  const pug = load('pug') as typeof Pug;
  const path = join(templates, `${name}.pug`);
  const { body, dependencies } = pug.compileClientWithDependenciesTracked(readFileSync(path, 'utf8'), {
    ...templateOptions(templates),
    filename: path,
    compileDebug: true,
    inlineRuntimeFunctions: false,
  }) as { body: string; dependencies: string[] };
  const files = [path, ...new Set(dependencies)].map((file): [string, string] => [
    relative(templates, file),
    hashOf(file),
  ]);
  return { pug: pugVersion(), files, body: `${body}\nreturn template;` };
}

function write(file: string, cache: string, stored: Stored): void {
  try {
    mkdirSync(cache, { recursive: true });
    // Several processes may write it concurrently; each renames a complete file into place.
    const folder = mkdtempSync(join(cache, 'new-'));
    writeFileSync(join(folder, 'template'), JSON.stringify(stored));
    renameSync(join(folder, 'template'), file);
    rmdirSync(folder);
  } catch {
    // The server cannot write to this checkout.
  }
}
