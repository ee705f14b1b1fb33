import { hasMessage, t } from '../../translation/index.ts';

/**
 * The flash message that a page shows after an accepted form, from `?done=…`; or null. The redirect contains only its
 * name, so a crafted URL cannot show its author's text.
 */
export function viewFlashMessage(query: URLSearchParams): string | null {
  const done = query.get('done') ?? '';
  if (!/^[a-z]+(?:-[a-z]+)*$/.test(done)) return null;
  const name = done.replaceAll('-', '_');
  return hasMessage(`flash.${name}`) ? t(`flash.${name}`) : null;
}

/** A path with the name of the flash message that its page should show. */
export const withFlashMessage = (path: string, done: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}done=${done}`;
