import type { WebDeps } from '../../web/index.ts';
import { editorConfigOf } from './editor-config.ts';
import type { EditorConfig } from './editor-config.ts';
import { readFiles } from './read-editor-configs.ts';

/** The editor settings for a file of a commit, from the `.editorconfig` files beside and above it; null without any. */
export async function editorSettingsFor(
  deps: Pick<WebDeps, 'git'>,
  place: { repository: string; commit: string },
  path: string,
): Promise<EditorConfig | null> {
  const files = await readFiles({ deps, ...place }, path);
  return files.length === 0 ? null : editorConfigOf(files, path);
}
