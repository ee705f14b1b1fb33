// The document of the API and the table of operations are made for the first request: others are answered meanwhile.
import t from 'tap';
import { apiDocument, apiDocumentBytes } from '../../src/http-api/index.ts';
import { loadInPieces } from '../../src/http-api/load-in-pieces.ts';
import { operations } from '../../src/http-api/v1/operations.ts';

/** How often the event loop comes round while something is made. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

t.test('the operations that are loaded in pieces are those of the table', async (t) => {
  t.equal(await loadInPieces(), operations);
});

t.test('the document is written with pauses, and once', async (t) => {
  const turns = await turnsOf(apiDocument);
  t.ok(turns > 2, `${turns} turns of the event loop`);
  const document = await apiDocument();
  t.equal(await apiDocument(), document);
  const bytes = await apiDocumentBytes();
  t.strictSame(JSON.parse(bytes.toString()), JSON.parse(JSON.stringify(document)));
  t.equal(await apiDocumentBytes(), bytes);
  const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  t.equal(described.length, operations.length);
  t.equal(new Set(described.map(({ operationId }) => operationId)).size, operations.length, 'each id is used once');
});
