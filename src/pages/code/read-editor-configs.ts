import type { Git } from '../../git/index.ts';
import { createLru, nullIfNotFound } from '../../kernel/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { editorConfigOf, tabWidthOf } from './editor-config.ts';
import type { EditorConfigFile } from './editor-config.ts';

const maxBytes = 32 * 1024;
/** Maximum number of folders to search. */
const maxFolders = 12;

interface Place {
  deps: { git: Git };
  /** Path of the bare repository. */
  repository: string;
  /** A commit id. */
  commit: string;
}

/** Texts by repository, commit and folder; null for folders without the file, which are most. */
const texts = createLru<string, Promise<string | null>>({ name: 'editor settings', maxWeight: 5_000 });

type SettingsName = '.editorconfig' | '.gitattributes';

async function readText(
  { deps: { git }, repository, commit }: Place,
  folder: string,
  file: SettingsName,
): Promise<string | null> {
  const name = folder === '' ? file : `${folder}/${file}`;
  const entry = await git.objects.entryAt(repository, commit, name).catch(nullIfNotFound);
  if (entry === null || (entry.kind !== 'file' && entry.kind !== 'executable')) return null;
  const { content } = await git.objects.blob(repository, entry.oid, { maxBytes });
  return content?.toString() ?? null;
}

function textIn(place: Place, folder: string, file: SettingsName): Promise<string | null> {
  const key = `${place.repository}\n${place.commit}\n${folder}/${file}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const reading = readText(place, folder, file);
  texts.set(key, reading);
  reading.catch(() => texts.delete(key));
  return reading;
}

/** The folder of a path and its parents, the nearest first; '' is the root. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  const folders = Array.from({ length: parts.length + 1 }, (_, at) => parts.slice(0, parts.length - at).join('/'));
  return folders.slice(-maxFolders);
}

/** The files of this name in the folder of a path and its parents, the nearest first. */
export async function readFiles(
  place: Place,
  path: string,
  name: SettingsName = '.editorconfig',
): Promise<EditorConfigFile[]> {
  const files = await Promise.all(
    foldersOf(path).map(async (folder) => ({ folder, text: await textIn(place, folder, name) })),
  );
  return files.filter((file): file is EditorConfigFile => file.text !== null);
}

/** The `.editorconfig` files in the folder of a path and its parents, the nearest first. */
export function readEditorConfigs(
  { found }: RepositoryContext,
  deps: { git: Git },
  tip: string | null,
  path: string,
): Promise<EditorConfigFile[]> {
  return tip === null ? Promise.resolve([]) : readFiles({ deps, repository: found.path, commit: tip }, path);
}

/** The default of git, terminals and other forges, in columns. */
const defaultTabWidth = 8;

/** Maximum number of folders whose settings a page reads; files in further folders have the default. */
export const maxFoldersOfPage = 100;

/** The CSS class of each file's tab width; null for the default. */
export type TabClasses = (path: string) => string | null;

export const defaultTabs: TabClasses = () => null;

/**
 * The tab width of files of a commit, by `.editorconfig`. If the settings cannot be read, the default applies.
 * @param paths all requested files
 */
export async function readTabClasses(
  { found }: { found: { path: string } },
  deps: { git: Git },
  commit: string | null,
  paths: readonly string[],
): Promise<TabClasses> {
  if (commit === null || paths.length === 0) return defaultTabs;
  const place = { deps, repository: found.path, commit };
  const byFolder = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf('/') + 1));
  const classes = new Map<string, string>();
  const reads = [...byFolder.values()].slice(0, maxFoldersOfPage).map(async (inFolder) => {
    const files = await readFiles(place, inFolder[0]!).catch(() => []);
    if (files.length === 0) return;
    for (const path of inFolder) {
      const width = tabWidthOf(editorConfigOf(files, path)) ?? defaultTabWidth;
      if (width !== defaultTabWidth) classes.set(path, `tab-${width}`);
    }
  });
  await Promise.all(reads);
  return (path) => classes.get(path) ?? null;
}
