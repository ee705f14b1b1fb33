import type { TreeEntry } from '../../git/index.ts';

const fileName = /^(?:licen[cs]e|copying|unlicense)(?:[._-].*)?$/i;

/** Phrases of licences, the most specific first. */
const marks: readonly [mark: RegExp, name: string][] = [
  [/GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3/i, 'AGPL-3.0'],
  [/GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3/i, 'LGPL-3.0'],
  [/GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1/i, 'LGPL-2.1'],
  [/GNU GENERAL PUBLIC LICENSE\s+Version 3/i, 'GPL-3.0'],
  [/GNU GENERAL PUBLIC LICENSE\s+Version 2/i, 'GPL-2.0'],
  [/Apache License\s+Version 2\.0/i, 'Apache-2.0'],
  [/Mozilla Public License,? Version 2\.0/i, 'MPL-2.0'],
  [/Eclipse Public License - v 2\.0/i, 'EPL-2.0'],
  [/European Union Public Licence/i, 'EUPL'],
  [/Boost Software License/i, 'BSL-1.0'],
  [/CC0 1\.0 Universal/i, 'CC0-1.0'],
  [/free and unencumbered software released into the public domain/i, 'Unlicense'],
  [/Permission is hereby granted, free of charge, to any person obtaining\s+a copy/i, 'MIT'],
  [/Permission to use, copy, modify, and\/?\s*(?:or\s+)?distribute this software for any/i, 'ISC'],
  [/Neither the name[^.]*?(?:may|nor)\b/i, 'BSD-3-Clause'],
  [/Redistributions? of source code must retain/i, 'BSD-2-Clause'],
  [/zlib/i, 'Zlib'],
];

export const findLicence = (entries: readonly TreeEntry[]): TreeEntry | null =>
  entries.find(({ name, kind }) => kind === 'file' && fileName.test(name)) ?? null;

/** The short name of a licence by its text, or null if unknown. */
export const licenceName = (text: string): string | null =>
  marks.find(([mark]) => mark.test(text.slice(0, 4_000)))?.[1] ?? null;
