/** The folder of templates, below the project's folder. */
export const templatesFolder = 'templates';

/**
 * The options of pug, the same for a checkout and the executable, so that a page has the same bytes in both.
 * @param basedir the templates folder, where `extends /layout` starts
 */
export function templateOptions(basedir: string): { basedir: string; doctype: string; pretty: false } {
  return { basedir, doctype: 'html', pretty: false };
}
