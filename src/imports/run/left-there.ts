import type { SourceRepository } from '../sources/source.ts';

/** Lines for a person about parts that no import brings; `url` is the address of the repository there. */
export function leftThere({ hasWiki }: Pick<SourceRepository, 'hasWiki'>, url: string): string[] {
  if (!hasWiki) return [];
  return [`Bring the pages of the wiki, if it has some: clone ${url}.wiki.git and push it to the wiki here.`];
}
