import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A separate volume of a few megabytes. Requires the permission to mount. */
interface SmallVolume {
  readonly path: string
  /** Fills the volume to the last byte. */
  fill(): void
  free(): void
  remove(): void
}

export function mountSmallVolume(megabytes: number): SmallVolume {
  const path = mkdtempSync(join(tmpdir(), 'sluice-volume-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', path])
  const ballast = join(path, 'ballast')
  return {
    path,
    fill() {
      const file = openSync(ballast, 'a')
      for (let size = 1 << 20; size >= 1; ) {
        try {
          if (writeSync(file, Buffer.alloc(size)) < size) size >>= 1
        } catch {
          size >>= 1
        }
      }
      closeSync(file)
    },
    free: () => rmSync(ballast, { force: true }),
    remove() {
      spawnSync('umount', ['-l', path])
      rmdirSync(path)
    },
  }
}

/** Whether this process may mount. */
export const canMount = (() => {
  try {
    mountSmallVolume(1).remove()
    return true
  } catch {
    return false
  }
})()
