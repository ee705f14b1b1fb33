/** The folder of templates, below the project's folder. */
export const templatesFolder = 'templates';

/**
 * The options of pug, for a checkout and the executable alike, so that a page has the same bytes in both.
 * @param basedir the templates folder, which `extends /layout` starts from
 */
export function templateOptions(basedir: string): { basedir: string; doctype: string; pretty: false } {
  return { basedir, doctype: 'html', pretty: false };
}
