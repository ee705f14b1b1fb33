/** Commands to paste into a terminal for a first push. */
interface PushInstructionsView {
  fresh: string;
  existing: string;
}

/** Quotes a branch name for the shell: git allows nearly any character in it, even `$(…)`. */
export function shellWord(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function viewPushInstructions(url: string, name: string, branch: string): PushInstructionsView {
  const push = [`git remote add origin ${url}`, `git push -u origin ${shellWord(branch)}`];
  const begin = [
    `git init -b ${shellWord(branch)} ${name}`,
    `cd ${name}`,
    `echo "# ${name}" > README.md`,
    'git add README.md',
    'git commit -m "Begin"',
  ];
  return { fresh: [...begin, ...push].join('\n'), existing: push.join('\n') };
}
