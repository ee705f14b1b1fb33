/** Files that git should ignore, by language. */
export const gitignoreTemplates = {
  Node: `# Packages
node_modules/
.npm/
.yarn/*
!.yarn/releases/
.pnp.*

# Results of builds and tests
dist/
build/
coverage/
*.tsbuildinfo
.eslintcache

# Logs
*.log

# Settings of this machine
.env
.env.*
!.env.example
`,
  Python: `# Compiled
__pycache__/
*.py[cod]
*.so

# Packages
build/
dist/
*.egg-info/
.eggs/
*.whl

# Environments
.venv/
venv/
.env

# Tools
.pytest_cache/
.mypy_cache/
.ruff_cache/
.tox/
.coverage
htmlcov/
.ipynb_checkpoints/
`,
  Go: `# Programs and libraries
*.exe
*.dll
*.so
*.dylib
/bin/

# Tests
*.test
*.out
coverage.txt

# Workspaces
go.work
go.work.sum

# Dependencies, unless they are kept here
vendor/
`,
  Rust: `# Results of builds
/target/
**/*.rs.bk
*.pdb

# Of a library that leaves the choice of versions to others, ignore the lock file, too
# Cargo.lock
`,
  Java: `# Compiled
*.class
*.jar
*.war
*.ear
hs_err_pid*

# Maven and Gradle
target/
build/
.gradle/
!gradle/wrapper/gradle-wrapper.jar

# Editors
.idea/
*.iml
.classpath
.project
.settings/
bin/
`,
  'C/C++': `# Objects and intermediate files
*.o
*.lo
*.slo
*.ko
*.obj
*.elf
*.ii
*.s
*.d

# Precompiled headers and modules
*.gch
*.pch
*.pcm
*.ifc
*.mod

# Libraries
*.a
*.la
*.lai
*.lib
*.so
*.so.*
*.dylib
*.dll
*.def
*.exp

# Programs
*.exe
*.out
*.app
*.i*86
*.x86_64
*.hex
*.efi

# What linkers and debuggers leave
*.ilk
*.map
*.pdb
*.idb
*.dSYM/
*.su
*.dwo
core.*

# Coverage and profiles
*.gcda
*.gcno
*.gcov
*.profraw
*.profdata
gmon.out

# Builds
build/
cmake-build-*/
CMakeCache.txt
CMakeFiles/
CMakeUserPresets.json
CTestTestfile.cmake
Testing/
_deps/
autom4te.cache/
config.log
config.status
.deps/
.libs/
meson-logs/
.ninja_deps
.ninja_log

# Indexes of editors
compile_commands.json
.cache/clangd/
.ccls-cache/
.vs/
`,
} as const;

export type GitignoreName = keyof typeof gitignoreTemplates;

const aliases: Readonly<Record<string, GitignoreName>> = {
  c: 'C/C++',
  'c++': 'C/C++',
  cpp: 'C/C++',
  javascript: 'Node',
  typescript: 'Node',
};

/** The template with this name, ignoring case; null if there is none. */
export function findGitignoreTemplate(name: string): GitignoreName | null {
  const folded = name.trim().toLowerCase();
  const known = (Object.keys(gitignoreTemplates) as GitignoreName[]).find((each) => each.toLowerCase() === folded);
  return known ?? (Object.hasOwn(aliases, folded) ? aliases[folded]! : null);
}
