import type { Cli } from './cli.ts';

/** The implementation of a command. `options` are its own; global ones are in `cli.flags`. */
export type Action<Options, Args extends readonly unknown[]> = (
  cli: Cli,
  options: Options,
  ...args: Args
) => Promise<void>;

/** Turns an action into a handler for commander. */
export type Run = <Options, Args extends readonly unknown[]>(
  action: Action<Options, Args>,
) => (...given: unknown[]) => Promise<void>;
