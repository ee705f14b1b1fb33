import { nullIfNotFound } from '../../kernel/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { EditingDeps } from './deps.ts';
import type { EditorConfigFile } from './editor-config.ts';

const maxBytes = 32 * 1024;
/** Folders whose files are looked for. */
const maxFolders = 12;

/** The files `.editorconfig` in the folder of a path and above, the nearest first. */
export async function readEditorConfigs(
  { found }: RepositoryContext,
  { git }: EditingDeps,
  tip: string | null,
  path: string,
): Promise<EditorConfigFile[]> {
  if (tip === null) return [];
  const parts = path.split('/').slice(0, -1);
  const folders = Array.from({ length: parts.length + 1 }, (_, at) => parts.slice(0, parts.length - at).join('/'));
  const files = await Promise.all(
    folders.slice(-maxFolders).map(async (folder): Promise<EditorConfigFile | null> => {
      const name = folder === '' ? '.editorconfig' : `${folder}/.editorconfig`;
      const entry = await git.objects.entryAt(found.path, tip, name).catch(nullIfNotFound);
      if (entry === null || (entry.kind !== 'file' && entry.kind !== 'executable')) return null;
      const { content } = await git.objects.blob(found.path, entry.oid, { maxBytes });
      return content === null ? null : { folder, text: content.toString() };
    }),
  );
  return files.filter((file) => file !== null);
}
