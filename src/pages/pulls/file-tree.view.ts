/** A file of the list of changes. */
interface ListedFile {
  path: string;
  url: string;
  status: string;
  added: number | null;
  removed: number | null;
  isViewed: boolean;
}

/** A folder with its contents, folders first; a folder that contains only one folder is joined with it, `src/pages`. */
export interface FileTree {
  folders: (FileTree & { name: string })[];
  files: (ListedFile & { name: string })[];
}

/** The list of changed files as a tree. */
export function viewFileTree(files: readonly ListedFile[]): FileTree {
  const top: FileTree = { folders: [], files: [] };
  const folders = new Map<string, FileTree>([['', top]]);
  const folderAt = (path: string): FileTree => {
    const found = folders.get(path);
    if (found !== undefined) return found;
    const cut = path.lastIndexOf('/');
    const folder = { name: path.slice(cut + 1), folders: [], files: [] };
    folders.set(path, folder);
    folderAt(cut === -1 ? '' : path.slice(0, cut)).folders.push(folder);
    return folder;
  };
  for (const file of files) {
    const cut = file.path.lastIndexOf('/');
    folderAt(cut === -1 ? '' : file.path.slice(0, cut)).files.push({ ...file, name: file.path.slice(cut + 1) });
  }
  return joined(top);
}

function joined<Node extends FileTree>(node: Node): Node {
  return {
    ...node,
    folders: node.folders.map((folder) => {
      let { name } = folder;
      let inner: FileTree = folder;
      while (inner.files.length === 0 && inner.folders.length === 1) {
        name += `/${inner.folders[0]!.name}`;
        inner = inner.folders[0]!;
      }
      return { name, ...joined({ folders: inner.folders, files: inner.files }) };
    }),
  };
}
