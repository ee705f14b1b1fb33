import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import type { FastForwardRule } from './fast-forward-check.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { RefUpdate } from './push-head.ts';
import type { RefResult } from './push-report.ts';
import type { RefQuota } from './ref-quota.ts';
import type { RecoveryAction } from '../maintenance/recover.ts';
import type { Semaphore } from '../../kernel/index.ts';

/** Hears of a push before git may act, and again when git has. */
export interface PushHooks {
  /**
   * Called with the commands that the ref policy lets through, in the order of the push. Nothing
   * has happened yet and nothing will before this resolves: the place for permission and journal.
   * A refusal's `reason` and the `remarks` are lines that the client shows.
   */
  preReceive(push: ProposedPush): Promise<PushVerdict>;
  /** Called once when git has reported, with a result for every command that was accepted. */
  postReceive(results: RefResult[]): Promise<void>;
}

export interface ProposedPush {
  updates: RefUpdate[];
  options: string[];
  /** Whether the client wants all of it or nothing. */
  isAtomic: boolean;
}

/** A command that is not executed, and why: one line, shown beside the ref. */
export interface RefusedRef {
  ref: string;
  reason: string;
}

/** With `refused`, commands that are not executed; the observer accepts the others, or none with `reason`. */
export type PushVerdict =
  | {
      accept: true;
      refused?: readonly RefusedRef[];
      remarks?: string[];
      /** Refs that may only move to a descendant of what they are; a command that breaks this is not executed. */
      onlyForward?: FastForwardRule[];
    }
  | { accept: false; refused?: readonly RefusedRef[]; reason: string };

export interface PushRequest {
  path: string;
  protocol?: string | null | undefined;
  /** The client's bytes: commands, push options, pack. */
  input: Readable;
  /** Left open: the caller ends it, or breaks it when the outcome is not clean. */
  output: Writable;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
  observer: PushHooks;
  /** Who pushes, for fair slots: any stable text. */
  client?: string | undefined;
  /** Overrides how long the client may stall, in milliseconds. */
  stallMs?: number | undefined;
  /** Whether `input` is a request that ends, and the client may read its answer only then: HTTP. */
  stateless?: boolean | undefined;
  /** Folders where this repository takes refs besides the usual ones, from `gerritFolders`. */
  extraFolders?: readonly string[] | undefined;
}

/**
 * How a push ended.
 * - `nothing`: no commands; git's probe before a large push, or nothing to do.
 * - `refused`: every command, by ref policy or observer, or for a move that does not go forward,
 *   and then `settled` was called; git never saw it.
 * - `reported`: git reported, `settled` was called with these results on the accepted commands.
 * - `unreported`: git ended without a report and `settled` was not called; the refs tell
 *   what took effect. `clean` when the client had not asked for one; otherwise git was
 *   ended, and the answer is cut short.
 */
export type PushOutcome =
  | { kind: 'nothing' }
  | { kind: 'refused'; updates: RefUpdate[] }
  | { kind: 'reported'; updates: RefUpdate[]; results: RefResult[] }
  | { kind: 'unreported'; updates: RefUpdate[]; clean: boolean };

export interface PushDeps {
  door: GitRunner;
  readers: ObjectReaders;
  slots: Semaphore;
  limits: GitLimits;
  logger: Logger;
  grantRefs: RefQuota;
  /** Removes what killed processes have left in a repository so far; never what is newer than the call. */
  removeLeftovers(path: string): Promise<RecoveryAction[]>;
  /** Repositories where a push was killed and its leftovers still lie. */
  untidy: Set<string>;
}
