import { createRequire } from 'node:module';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { compileTemplate } from 'pug';
import { unknownName, type Embedded } from './embedded.ts';
import { compileWithCache } from './template-cache.ts';
import { templatesFolder } from './template-options.ts';
import { contributorDocuments } from './contributor-documents.ts';
import { packagedAssets } from './packaged-assets.ts';
import { limitsOfThread } from './thread-limits.ts';
import { libraries, tasks, workers, type TaskName, type WorkerName } from './workers.ts';

const load = createRequire(import.meta.url);
const projectFolder = fileURLToPath(new URL('../../', import.meta.url));
const templates = join(projectFolder, templatesFolder);
const assets = join(templates, 'assets');
const documents = join(projectFolder, 'docs');
const templateCache = join(projectFolder, 'node_modules/.cache/hearth-templates');

/** Time for which files count as unchanged after a check: a page needs some twenty, and an edit must show on reload. */
const recheckMs = 250;
const isDue = ({ checkedAt }: { checkedAt: number }): boolean => performance.now() - checkedAt > recheckMs;

interface Compiled {
  render: compileTemplate;
  /** The template and all its includes, with their modification times when read. */
  files: { path: string; changedAt: number }[];
  checkedAt: number;
}
const compiled = new Map<string, Compiled>();

interface ReadAsset {
  content: Buffer;
  checkedAt: number;
}
const readAssets = new Map<string, ReadAsset>();

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
    )
    .sort();
}

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** The files of the templates folder; listed again for a missing name, which may have been added. */
let listed: ReadonlySet<string> = new Set();
function isTemplate(name: string): boolean {
  if (!listed.has(`${name}.pug`)) listed = new Set(filesBelow(templates));
  return !name.startsWith('assets/') && listed.has(`${name}.pug`);
}

function compile(name: string): Compiled {
  if (!isTemplate(name)) throw unknownName('template', name);
  const { render, files } = compileWithCache(templates, name, templateCache);
  return {
    render,
    files: files.map((file) => ({ path: file, changedAt: changedAt(file) })),
    checkedAt: performance.now(),
  };
}

function isUnchanged(template: Compiled): boolean {
  template.checkedAt = performance.now();
  return template.files.every((file) => file.changedAt === changedAt(file.path));
}

const documentNames = (): string[] =>
  readdirSync(documents)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
    .filter((name) => !contributorDocuments.has(name))
    .sort();

/** Reads everything from the checkout; recompiles a changed template. */
export const embedded: Embedded = {
  version: (JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { version: string }).version,
  isExecutable: false,
  startWorker(name: WorkerName, options = {}) {
    if (!Object.hasOwn(workers, name)) throw unknownName('worker', name);
    const resourceLimits = limitsOfThread(name, options.resourceLimits);
    return new Worker(join(projectFolder, workers[name]), { name, ...options, resourceLimits });
  },
  async loadTask(name: TaskName) {
    if (!Object.hasOwn(tasks, name)) throw unknownName('task', name);
    return import(pathToFileURL(join(projectFolder, tasks[name])).href) as Promise<unknown>;
  },
  library: (name) => load(join(projectFolder, libraries[name])) as unknown,
  programOf(name) {
    if (!Object.hasOwn(workers, name)) throw unknownName('worker', name);
    return {
      program: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=64', join(projectFolder, workers[name])],
    };
  },
  asset(path) {
    const known = readAssets.get(path);
    if (known !== undefined && !isDue(known)) return known.content;
    const packaged = Object.hasOwn(packagedAssets, path) ? packagedAssets[path] : undefined;
    if (packaged === undefined && !filesBelow(assets).includes(path)) throw unknownName('asset', path);
    const content = readFileSync(packaged === undefined ? join(assets, path) : join(projectFolder, packaged));
    readAssets.set(path, { content, checkedAt: performance.now() });
    return content;
  },
  translation(language) {
    if (!/^[\w-]+$/.test(language)) throw unknownName('translation', language);
    return readFileSync(join(projectFolder, 'translations', `${language}.json`), 'utf8');
  },
  document(name) {
    if (!documentNames().includes(name)) throw unknownName('document', name);
    return readFileSync(join(documents, `${name}.md`), 'utf8');
  },
  documentNames,
  assetPaths: () => [...filesBelow(assets), ...Object.keys(packagedAssets)].sort(),
  renderTemplate(name, locals = {}) {
    let known = compiled.get(name);
    if (known === undefined || (isDue(known) && !isUnchanged(known))) {
      known = compile(name);
      compiled.set(name, known);
    }
    return known.render(locals);
  },
};
