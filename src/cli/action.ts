import type { Cli } from './cli.ts';

/** What a command does. `options` are its own; global ones are in `cli.flags`. */
export type Action<Options, Args extends readonly unknown[]> = (
  cli: Cli,
  options: Options,
  ...args: Args
) => Promise<void>;

/** Turns an action into what commander calls. */
export type Run = <Options, Args extends readonly unknown[]>(
  action: Action<Options, Args>,
) => (...given: unknown[]) => Promise<void>;
