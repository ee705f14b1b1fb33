import type { Renderings, WebDeps } from '../web/index.ts';
import { editorSettingsFor } from './code/settings-for-api.ts';
import { renderForApi } from './markdown/render-for-api.ts';

/** The text renderers of pages, for the API. */
export const createRenderings = (
  deps: Pick<WebDeps, 'config' | 'git' | 'imageProxy' | 'issues' | 'workers'>,
): Renderings => ({
  markup: (text) => renderForApi(deps, text),
  editorSettings: (place, path) => editorSettingsFor(deps, place, path),
});
