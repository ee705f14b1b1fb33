import type { WebDeps } from '../../web/index.ts';
import { editorConfigOf } from './editor-config.ts';
import type { EditorConfig } from './editor-config.ts';
import { readFiles } from './read-editor-configs.ts';

/** The settings of editors for a file of a commit, by the files `.editorconfig` beside and above it; null without. */
export async function editorSettingsFor(
  deps: Pick<WebDeps, 'git'>,
  place: { repository: string; commit: string },
  path: string,
): Promise<EditorConfig | null> {
  const files = await readFiles({ deps, ...place }, path);
  return files.length === 0 ? null : editorConfigOf(files, path);
}
