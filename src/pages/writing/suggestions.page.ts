import { content } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { WritingDeps } from './deps.ts';
import { findSuggestions, suggestionKinds } from './find-suggestions.ts';
import type { SuggestionKind } from './find-suggestions.ts';

const maxQuery = 100;

/**
 * `B/suggestions?kind=&q=`: JSON `{items: [{text, label, note}]}`, at most 20, for the script of the pages. Only
 * objects that the viewer also finds on other pages; 404 for a hidden repository. Without a kind: mentions.
 */
export const listSuggestions: Page<RepositoryContext, WritingDeps> = async (context, deps): Promise<Reply> => {
  const { query } = context;
  const kind = query.get('kind') ?? 'mention';
  if (!isKind(kind)) return json(422, { message: `The kind is one of ${suggestionKinds.join(', ')}.` });
  const wanted = (query.get('q') ?? '').trim();
  // Longer than any name.
  const items = wanted.length > maxQuery ? [] : await findSuggestions(context, deps, kind, wanted);
  return json(200, { items });
};

const isKind = (kind: string): kind is SuggestionKind => suggestionKinds.some((each) => each === kind);

const json = (status: number, value: unknown): Reply =>
  content('application/json; charset=utf-8', JSON.stringify(value), {
    status,
    headers: { 'Cache-Control': 'private, no-store' },
  });
