/** The newest lines of the running server's log, and new ones. */
export interface LogTail {
  /** @param line JSON, with its newline */
  add(line: string): void;
  /** Oldest first. */
  recent(): readonly string[];
  /**
   * @returns a function that stops listening
   */
  follow(listener: (line: string) => void): () => void;
}

const maxLines = 2_000;

export function createLogTail(): LogTail {
  const lines: string[] = [];
  const listeners = new Set<(line: string) => void>();
  return {
    add(line) {
      lines.push(line);
      // In bulk: shifting the array for each line would cost more than the line.
      if (lines.length > 2 * maxLines) lines.splice(0, lines.length - maxLines);
      for (const listener of listeners) listener(line);
    },
    recent: () => lines.slice(-maxLines),
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
