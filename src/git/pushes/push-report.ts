import { clientLine, maskControls } from './client-text.ts';
import { encodePacket, flushPacket, PacketReader } from '../pkt-line.ts';
import type { RawUpdate } from './push-head.ts';

/** What became of one command of a push. */
export interface RefResult {
  ref: string;
  ok: boolean;
  /** git's or our words for the refusal, without control characters. */
  reason?: string;
}

const bands = { data: 1, remark: 2, failure: 3 } as const;

/** Data bytes of one side-band packet that every client takes. */
const maxBandBytes = 65_515;

/** What is kept of git's remarks, to tell why it gave up. */
const keptWords = 1_000;
const saysTooLarge = /attempting to allocate \d+ over limit/;

/** Writes the answer to a push in the form that the client asked for. */
export class ReportWriter {
  readonly #capabilities: ReadonlySet<string>;

  constructor(capabilities: ReadonlySet<string>) {
    this.#capabilities = capabilities;
  }

  get usesSideBand(): boolean {
    return this.#capabilities.has('side-band-64k');
  }

  get #wantsReport(): boolean {
    return this.#capabilities.has('report-status') || this.#capabilities.has('report-status-v2');
  }

  /** Lines that the client shows as "remote: …"; without a side band there is no place for them. */
  remarks(lines: readonly string[]): Buffer {
    if (!this.usesSideBand) return Buffer.alloc(0);
    return Buffer.concat(
      lines.flatMap((line) => bandPackets(bands.remark, Buffer.from(`${clientLine(line).slice(0, 1_000)}\n`))),
    );
  }

  /** The report of a push that git never saw. */
  refusal(refused: readonly { update: RawUpdate; reason: string }[]): Buffer {
    const lines = refused.map(({ update, reason }) =>
      encodePacket(
        Buffer.concat([Buffer.from('ng '), update.rawRef, Buffer.from(` ${clientLine(reason).slice(0, 1_000)}\n`)]),
      ),
    );
    const report = Buffer.concat([encodePacket('unpack ok\n'), ...lines, flushPacket]);
    if (!this.usesSideBand) return this.#wantsReport ? report : Buffer.alloc(0);
    return Buffer.concat([...(this.#wantsReport ? bandPackets(bands.data, report) : []), flushPacket]);
  }

  /** Ends an answer that git left unfinished: the client shows `text` and fails. */
  failure(text: string): Buffer {
    return this.usesSideBand
      ? Buffer.concat(bandPackets(bands.failure, Buffer.from(`${clientLine(text)}\n`)))
      : Buffer.alloc(0);
  }
}

function bandPackets(band: number, data: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let start = 0; start < data.length; start += maxBandBytes) {
    packets.push(encodePacket(Buffer.concat([Buffer.from([band]), data.subarray(start, start + maxBandBytes)])));
  }
  return packets;
}

/**
 * Follows the answer of `git receive-pack` while it passes. Progress goes on at
 * once; the report is kept back from its first byte, and so is all that follows,
 * until `release`.
 */
export class ReportReader {
  readonly #sideBand: boolean;
  readonly #outer = new PacketReader();
  readonly #report = new PacketReader();
  readonly #verdicts = new Map<string, RefResult>();
  readonly #held: Buffer[] = [];
  #lastWords = '';
  #complete = false;
  #released = false;
  #ended = false;

  constructor(sideBand: boolean) {
    this.#sideBand = sideBand;
  }

  /** Whether the whole report has been read: git has done all it will do to the refs. */
  get isComplete(): boolean {
    return this.#complete;
  }

  /** Whether the end of the whole answer has come, too; without a side band that is the end of the report. */
  get hasEnded(): boolean {
    return this.#sideBand ? this.#ended : this.#complete;
  }

  /** Whether git said that it would have needed more memory in one piece than it was allowed. */
  get ranOutOfMemory(): boolean {
    return saysTooLarge.test(this.#lastWords);
  }

  /** Takes what git wrote; answers what may go on to the client now. */
  push(chunk: Buffer): Buffer {
    if (!this.#sideBand) {
      this.#readReport(chunk);
      return this.#pass(chunk);
    }
    const now: Buffer[] = [];
    this.#outer.push(chunk);
    for (let packet = this.#outer.next(); packet !== null; packet = this.#outer.next()) {
      if (packet.kind !== 'data') {
        this.#ended = true;
        now.push(this.#pass(flushPacket));
      } else if (packet.data[0] === bands.data) {
        this.#readReport(packet.data.subarray(1));
        now.push(this.#pass(encodePacket(packet.data)));
      } else {
        maskControls(packet.data.subarray(1));
        this.#lastWords = (this.#lastWords + packet.data.toString('latin1', 1)).slice(-keptWords);
        now.push(this.#held.length === 0 ? encodePacket(packet.data) : this.#pass(encodePacket(packet.data)));
      }
    }
    return Buffer.concat(now);
  }

  /** The bytes that were kept back; later ones pass at once. */
  release(): Buffer {
    this.#released = true;
    return Buffer.concat(this.#held.splice(0));
  }

  /** The verdict on each command, in the order of the push. */
  results(updates: readonly RawUpdate[]): RefResult[] {
    return updates.map(
      ({ ref, rawRef }) =>
        this.#verdicts.get(rawRef.toString('latin1')) ?? { ref, ok: false, reason: 'git did not report on this ref' },
    );
  }

  #pass(bytes: Buffer): Buffer {
    if (this.#released) return bytes;
    this.#held.push(bytes);
    return Buffer.alloc(0);
  }

  #readReport(bytes: Buffer): void {
    this.#report.push(bytes);
    for (let packet = this.#report.next(); packet !== null; packet = this.#report.next()) {
      if (packet.kind === 'flush') this.#complete = true;
      else if (packet.kind === 'data') this.#readVerdict(packet.data);
    }
  }

  /** `ok REF` or `ng REF REASON`; `unpack …` and the `option …` lines of version 2 decide nothing. */
  #readVerdict(line: Buffer): void {
    const [, verdict, name, reason] = /^(ok|ng) ([^ \n]+)(?: ([^\n]*))?\n?$/.exec(line.toString('latin1')) ?? [];
    if (verdict === undefined || name === undefined) return;
    const ref = Buffer.from(name, 'latin1').toString('utf8');
    const words = clientLine(Buffer.from(reason ?? '', 'latin1').toString('utf8'));
    this.#verdicts.set(name, verdict === 'ok' ? { ref, ok: true } : { ref, ok: false, reason: words || 'refused' });
  }
}
