const blockBytesMax = 1024 * 1024
/** Freed blocks of the greatest size, for the next bodies: otherwise hundreds of them would wait for the garbage collector. */
const spareBlocks: Buffer[] = []
const spareBlocksMax = 64
const spareMs = 10_000
let isFreeing = false

function keepSpare(blocks: readonly Buffer[]): void {
  for (const block of blocks) if (block.length === blockBytesMax && spareBlocks.length < spareBlocksMax) spareBlocks.push(block)
  if (isFreeing) return
  isFreeing = true
  setTimeout(() => {
    spareBlocks.length = 0
    isFreeing = false
  }, spareMs).unref()
}

/**
 * Joins the chunks of a body in one Buffer. Chunks are copied into blocks as they arrive, so that a body is held once until it is
 * joined; a body with an announced length is never joined, because its block has that length. Memory for an announced length is
 * allocated only when a quarter of it has arrived: an announcement alone costs nothing.
 */
export class ByteCollector {
  readonly #announced: number
  /** All blocks but the last are full. */
  #blocks: Buffer[] = []
  /** Free bytes at the end of the last block. */
  #free = 0
  #size = 0

  constructor(announced = 0) {
    this.#announced = announced
  }

  /** Bytes received so far. */
  get size(): number {
    return this.#size
  }

  push(piece: Buffer): void {
    // A body of one piece is that piece.
    if (this.#size === 0 && piece.length >= this.#announced) this.#blocks = [piece]
    else {
      const written = this.#write(piece)
      if (written < piece.length) {
        this.#grow(piece.length - written)
        this.#write(piece.subarray(written))
      }
    }
    this.#size += piece.length
  }

  /** All bytes received. */
  bytes(): Buffer {
    const filled = this.#filled()
    if (filled.length === 1 && filled[0]) return filled[0]
    const joined = Buffer.concat(filled)
    this.discard()
    this.#blocks = [joined]
    return joined
  }

  /** Releases the memory of a body that is no longer needed. What `bytes` has returned stays as it is. */
  discard(): void {
    // The first may be a piece that still belongs to its sender, or what `bytes` has returned.
    keepSpare(this.#blocks.slice(1))
    this.#blocks = []
    this.#free = 0
  }

  /** Fills the last block. Returns how many bytes it had room for. */
  #write(piece: Buffer): number {
    const block = this.#blocks.at(-1)
    if (!block || this.#free === 0) return 0
    const written = piece.copy(block, block.length - this.#free)
    this.#free -= written
    return written
  }

  /** Adds room for at least `bytes` bytes. Called when the last block is full. */
  #grow(bytes: number): void {
    const size = this.#blocks.reduce((sum, block) => sum + block.length, 0)
    const isNearAnnounced = size + bytes <= this.#announced && (size + bytes) * 4 >= this.#announced
    if (isNearAnnounced) {
      const whole = Buffer.allocUnsafeSlow(this.#announced)
      let at = 0
      for (const block of this.#blocks) at += block.copy(whole, at)
      this.#blocks = [whole]
      this.#free = whole.length - at
    } else {
      this.#free = Math.max(bytes, Math.min(size, blockBytesMax))
      this.#blocks.push((this.#free === blockBytesMax && spareBlocks.pop()) || Buffer.allocUnsafeSlow(this.#free))
    }
  }

  #filled(): Buffer[] {
    const last = this.#blocks.at(-1)
    return last && this.#free > 0 ? [...this.#blocks.slice(0, -1), last.subarray(0, last.length - this.#free)] : this.#blocks
  }
}
