import type { Database } from '../../db/index.ts';
import { contains } from '../../db/index.ts';
import { queryWithNamedParameters } from './query-with-named-parameters.ts';
import type { TextHit, TextIndex } from '../text-index.ts';

/** Without a text index, for tests of this module: searches words in titles, in list order. */
export const titleIndex = (db: Database): TextIndex => ({
  async find({ words, page, parameters }) {
    const named = words.map((word, at) => [`word${at}`, word.toLowerCase()] as const);
    const and = named.map(([name]) => contains('lower(i.title)', `:${name}`)).join(' AND ');
    const sql = page(and === '' ? {} : { and });
    const rows = await queryWithNamedParameters<{ id: string }>(db, sql, {
      ...parameters,
      ...Object.fromEntries(named),
    });
    return rows.map(({ id }): TextHit => ({ id, position: words.length === 0 ? null : 0 }));
  },
});
