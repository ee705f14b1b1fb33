import { createHash } from 'node:crypto';
import { yieldToEventLoop, visitAll } from '../kernel/index.ts';

/** Rows of a list, or of a list in an object, from which a response is serialized in pieces. */
const manyRows = 200;
/** Approximate size of a piece in bytes. */
const pieceLength = 128 * 1024;

/**
 * JSON of a value as bytes. Serializes a long list, or a long list in an object, row by row with pauses, so that a
 * response of many megabytes does not delay other clients. The text equals that of `JSON.stringify`.
 */
export async function jsonInPieces(value: unknown): Promise<Buffer[]> {
  const writer = new PieceWriter();
  if (isLong(value)) await writer.list(value);
  else if (isPlain(value) && Object.values(value).some(isLong)) await writer.fields(value);
  else writer.text(JSON.stringify(value));
  return writer.end();
}

/** SHA-256 of the pieces in base64url. */
export async function digestOf(pieces: readonly Buffer[]): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of pieces) {
    await yieldToEventLoop();
    hash.update(piece);
  }
  return hash.digest('base64url');
}

const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > manyRows;

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value);

class PieceWriter {
  readonly #pieces: Buffer[] = [];
  #texts: string[] = [];
  #length = 0;

  text(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length >= pieceLength) this.#flush();
  }

  async list(rows: readonly unknown[]): Promise<void> {
    this.text('[');
    await visitAll(rows, (row, index) => {
      // As `JSON.stringify` treats values without a JSON form.
      this.text((index === 0 ? '' : ',') + (JSON.stringify(row) ?? 'null'));
    });
    this.text(']');
  }

  async fields(value: Record<string, unknown>): Promise<void> {
    let before = '{';
    for (const [name, field] of Object.entries(value)) {
      const json = isLong(field) ? '' : JSON.stringify(field);
      if (json === undefined) continue;
      this.text(`${before}${JSON.stringify(name)}:${json}`);
      if (isLong(field)) await this.list(field);
      before = ',';
    }
    this.text(before === '{' ? '{}' : '}');
  }

  end(): Buffer[] {
    this.#flush();
    return this.#pieces;
  }

  #flush(): void {
    this.#pieces.push(Buffer.from(this.#texts.join('')));
    this.#texts = [];
    this.#length = 0;
  }
}
