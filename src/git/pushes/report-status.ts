import { noRef, saysDiskFull, visitAll } from '../../kernel/index.ts';
import { sanitiseLine, maskControls } from './sanitise-text.ts';
import { encodePacket, flushPacket, PacketReader } from '../pkt-line.ts';
import type { RawUpdate } from './push-header.ts';

/** The result of one command of a push. */
export interface RefResult {
  ref: string;
  ok: boolean;
  /** The reason of a refusal, by git or Hearth, without control characters. */
  reason?: string;
}

const bands = { data: 1, remark: 2, failure: 3 } as const;

/** Payload size of a side-band packet that every client accepts. */
const maxBandBytes = 65_515;

/** Length of git's messages that is kept, to find out why it failed. */
const maxErrorText = 1_000;
const saysTooLarge = /attempting to allocate \d+ over limit/;

const storedIn = ' (stored in ';
const storedCorrupt = /([^\n]*) \(stored in [^\n]*\) is corrupt\n?/g;

/** Writes the response to a push in the format that the client requested. */
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

  /** Lines that the client shows as "remote: …"; requires a side band. */
  remarks(lines: readonly string[]): Buffer {
    if (!this.usesSideBand) return Buffer.alloc(0);
    return Buffer.concat(
      lines.flatMap((line) => bandPackets(bands.remark, Buffer.from(`${sanitiseLine(line).slice(0, 1_000)}\n`))),
    );
  }

  /** The report of a push that git never received. */
  async refusal(updates: readonly RawUpdate[], reasons: ReadonlyMap<RawUpdate, string>): Promise<Buffer> {
    const lines = [encodePacket('unpack ok\n')];
    await visitAll(updates, (update) => lines.push(...refusalLine(update, reasons)));
    return this.#report(lines, flushPacket);
  }

  /**
   * The report of a push that git received in part: git's report with the refused refs inserted. Clients expect the
   * lines in the order of their commands.
   */
  mixed(updates: readonly RawUpdate[], reasons: ReadonlyMap<RawUpdate, string>, gitReport: GitReport): Buffer {
    const lines = updates.flatMap((update) => {
      const own = refusalLine(update, reasons);
      return own.length > 0 ? own : this.#asNamed(update, gitReport.lines.get(update.rawRef) ?? []);
    });
    return this.#report([...gitReport.unpack, ...lines], gitReport.rest);
  }

  /**
   * The report of a push whose refs git did not write itself.
   * @param results results of the commands that were not refused
   */
  async own(
    updates: readonly RawUpdate[],
    reasons: ReadonlyMap<RawUpdate, string>,
    results: ReadonlyMap<RawUpdate, RefResult>,
    { unpack, rest }: Pick<GitReport, 'unpack' | 'rest'>,
  ): Promise<Buffer> {
    const lines: Buffer[] = [];
    await visitAll(updates, (update) => {
      const result = results.get(update);
      if (result?.ok === true) lines.push(...this.#asNamed(update, [latin1Packet(`ok ${update.rawRef}\n`)]));
      else lines.push(refusalOf(update, reasons.get(update) ?? result?.reason ?? 'git did not report on this ref'));
    });
    return this.#report([...unpack, ...lines], rest);
  }

  /**
   * git's lines under the name from the client; clients of report-status-v2 also learn which ref was written, as from
   * `proc-receive` (githooks).
   */
  #asNamed({ clientRef, rawRef, oldId }: RawUpdate, lines: readonly Buffer[]): readonly Buffer[] {
    const [result, ...options] = lines;
    if (clientRef === undefined || result === undefined) return lines;
    const text = result.toString('latin1', packetHeadBytes);
    const named = latin1Packet(text.replace(/^(ok|ng) [^ \n]+/, (_, verdict: string) => `${verdict} ${clientRef}`));
    if (!text.startsWith('ok') || !this.#capabilities.has('report-status-v2')) return [named, ...options];
    const old = noRef.test(oldId) ? [] : [latin1Packet(`option old-oid ${oldId}\n`)];
    return [named, latin1Packet(`option refname ${rawRef}\n`), ...old, ...options];
  }

  /**
   * @param rest bytes after the report in a side-band response
   */
  #report(lines: readonly Buffer[], rest: Buffer): Buffer {
    const report = this.#wantsReport ? Buffer.concat([...lines, flushPacket]) : Buffer.alloc(0);
    return this.usesSideBand ? Buffer.concat([...bandPackets(bands.data, report), rest]) : report;
  }

  /** Ends a response that git left unfinished: the client shows `text` and fails. */
  failure(text: string): Buffer {
    return this.usesSideBand
      ? Buffer.concat(bandPackets(bands.failure, Buffer.from(`${sanitiseLine(text)}\n`)))
      : Buffer.alloc(0);
  }
}

/** Empty if the ref was not refused. */
function refusalLine(update: RawUpdate, reasons: ReadonlyMap<RawUpdate, string>): Buffer[] {
  const reason = reasons.get(update);
  return reason === undefined ? [] : [refusalOf(update, reason)];
}

function refusalOf({ clientRef, rawRef }: RawUpdate, reason: string): Buffer {
  const words = Buffer.from(` ${sanitiseLine(reason).slice(0, 1_000)}\n`);
  return encodePacket(Buffer.concat([Buffer.from(`ng ${clientRef ?? rawRef}`, 'latin1'), words]));
}

const packetHeadBytes = 4;
const latin1Packet = (text: string): Buffer => encodePacket(Buffer.from(text, 'latin1'));

function bandPackets(band: number, data: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let start = 0; start < data.length; start += maxBandBytes) {
    packets.push(encodePacket(Buffer.concat([Buffer.from([band]), data.subarray(start, start + maxBandBytes)])));
  }
  return packets;
}

/** git's report, as packets. */
interface GitReport {
  /** `unpack ok`, or the error. */
  unpack: readonly Buffer[];
  /** Keyed by ref, one character per byte: the result, and its `option` lines. */
  lines: ReadonlyMap<string, readonly Buffer[]>;
  /** Bytes after the report that belong to the response: messages, the end. */
  rest: Buffer;
}

/**
 * Parses the response of `git receive-pack` as it passes. Progress is passed on at once; the report and all bytes after
 * it are held back until `release`.
 */
export class ReportReader {
  readonly #sideBand: boolean;
  readonly #outer = new PacketReader();
  readonly #report = new PacketReader();
  readonly #verdicts = new Map<string, RefResult>();
  readonly #keepsLines: boolean;
  readonly #held: { bytes: Buffer; isReport: boolean }[] = [];
  readonly #unpack: Buffer[] = [];
  readonly #lines = new Map<string, Buffer[]>();
  #lastLines: Buffer[] = this.#unpack;
  #errorText = '';
  #complete = false;
  #released = false;
  #ended = false;

  /**
   * @param keepsLines whether `takeReport` will be called; a large push has many lines
   */
  constructor(sideBand: boolean, { keepsLines = false }: { keepsLines?: boolean } = {}) {
    this.#sideBand = sideBand;
    this.#keepsLines = keepsLines;
  }

  /** Whether the whole report has been parsed: git has finished updating refs. */
  get isComplete(): boolean {
    return this.#complete;
  }

  /** Whether the whole response has ended; without a side band that is the end of the report. */
  get hasEnded(): boolean {
    return this.#sideBand ? this.#ended : this.#complete;
  }

  /** Whether git reported an allocation above its limit. */
  get ranOutOfMemory(): boolean {
    return saysTooLarge.test(this.#errorText);
  }

  /** Whether git reported that there is no space left. */
  get saysDiskFull(): boolean {
    return saysDiskFull(this.#errorText);
  }

  /** Takes git's output; returns the bytes that may be passed to the client now. */
  push(chunk: Buffer): Buffer {
    if (!this.#sideBand) {
      this.#readReport(chunk);
      return this.#pass(chunk, true);
    }
    const now: Buffer[] = [];
    this.#outer.push(chunk);
    for (let packet = this.#outer.next(); packet !== null; packet = this.#outer.next()) {
      if (packet.kind !== 'data') {
        this.#ended = true;
        now.push(this.#pass(flushPacket));
      } else if (packet.data[0] === bands.data) {
        this.#readReport(packet.data.subarray(1));
        now.push(this.#pass(encodePacket(packet.data), true));
      } else {
        const words = this.#forClient(packet.data);
        now.push(this.#held.length === 0 ? words : this.#pass(words));
      }
    }
    return Buffer.concat(now);
  }

  /** The bytes that were held back; later ones pass at once. */
  release(): Buffer {
    this.#released = true;
    return Buffer.concat(this.#held.splice(0).map(({ bytes }) => bytes));
  }

  /** The result of each command, in push order. */
  results(updates: readonly RawUpdate[]): RefResult[] {
    return updates.map(
      ({ ref, rawRef }) => this.#verdicts.get(rawRef) ?? { ref, ok: false, reason: 'git did not report on this ref' },
    );
  }

  /** The report itself, instead of `release`, for a caller that adds to it. Later bytes pass at once. */
  takeReport(): GitReport {
    const rest = Buffer.concat(this.#held.flatMap(({ bytes, isReport }) => (isReport ? [] : [bytes])));
    this.release();
    return { unpack: this.#unpack, lines: this.#lines, rest };
  }

  /**
   * git's messages for the client: without control characters and paths on this server's disk. After an object that is
   * too large to read, git also calls it corrupt; that line is dropped.
   */
  #forClient(packet: Buffer): Buffer {
    maskControls(packet.subarray(1));
    const isTooLarge = this.ranOutOfMemory;
    this.#errorText = (this.#errorText + packet.toString('latin1', 1)).slice(-maxErrorText);
    if (!packet.includes(storedIn)) return encodePacket(packet);
    const text = packet
      .toString('latin1')
      .replace(storedCorrupt, isTooLarge || this.ranOutOfMemory ? '' : '$1 is corrupt\n');
    return text.length > 1 ? encodePacket(Buffer.from(text, 'latin1')) : Buffer.alloc(0);
  }

  #pass(bytes: Buffer, isReport = false): Buffer {
    if (this.#released) return bytes;
    this.#held.push({ bytes, isReport });
    return Buffer.alloc(0);
  }

  #readReport(bytes: Buffer): void {
    this.#report.push(bytes);
    for (let packet = this.#report.next(); packet !== null; packet = this.#report.next()) {
      if (packet.kind === 'flush') this.#complete = true;
      else if (packet.kind === 'data') this.#readLine(packet.data);
    }
  }

  /** Parses `ok REF` or `ng REF REASON`; `unpack …` and the `option …` lines of version 2 are not results. */
  #readLine(line: Buffer): void {
    const [, verdict, name, reason] = /^(ok|ng) ([^ \n]+)(?: ([^\n]*))?\n?$/.exec(line.toString('latin1')) ?? [];
    if (this.#keepsLines) {
      if (name !== undefined) this.#lines.set(name, (this.#lastLines = []));
      this.#lastLines.push(encodePacket(line));
    }
    if (verdict === undefined || name === undefined) return;
    const ref = Buffer.from(name, 'latin1').toString('utf8');
    const words = sanitiseLine(Buffer.from(reason ?? '', 'latin1').toString('utf8'));
    this.#verdicts.set(name, verdict === 'ok' ? { ref, ok: true } : { ref, ok: false, reason: words || 'refused' });
  }
}
