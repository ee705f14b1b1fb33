import t from 'tap';
import { markHits } from '../../src/search/index.ts';

t.test('matches are marked in the text as it was written', async (t) => {
  const marked = (text: string, query: string) =>
    markHits(text, query)
      .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
      .join('');
  const cases: [string, string, string][] = [
    ['A tool for Tools', 'TOOL', 'A [tool] for [Tool]s'],
    ['ΟΔΟΣ', 'ος', 'ΟΔ[ΟΣ]'],
    ['İstanbul', 'i', '[İ]stanbul'],
    ['İstanbul', 'stan', 'İ[stan]bul'],
    ['e\u0301cole', 'É', '[é]cole'],
    ['🔥a🔥', '🔥', '[🔥]a[🔥]'],
    ['aaa', 'aa', '[aa]a'],
    ['plain', '', 'plain'],
    ['', 'x', ''],
    ['<b>', '<', '[<]b>'],
  ];
  for (const [text, query, wanted] of cases) t.equal(marked(text, query), wanted);
});
