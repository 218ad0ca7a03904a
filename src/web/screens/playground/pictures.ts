/**
 * Makes images small enough to be sent and stored: no edge longer than models use, and without metadata such as camera and
 * location.
 */

export const picturesMax = 4
const edgeMaxPx = 1568
const bytesMax = 30_000_000
const pngCharactersMax = 1_500_000

export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

/** Returns data URLs, and the number of files that the browser could not read as images. */
export async function readPictures(files: readonly File[]): Promise<{ pictures: readonly string[]; refused: number }> {
  const read = await Promise.all(files.map((file) => readPicture(file).catch(() => undefined)))
  const pictures = read.filter((picture) => picture !== undefined)
  return { pictures, refused: files.length - pictures.length }
}

async function readPicture(file: File): Promise<string | undefined> {
  if (file.size > bytesMax || !file.type.startsWith('image/')) return undefined
  const bitmap = await createImageBitmap(file)
  try {
    return dataUrlOf(bitmap, file.type)
  } finally {
    bitmap.close()
  }
}

function dataUrlOf(bitmap: ImageBitmap, type: string): string | undefined {
  const scale = Math.min(1, edgeMaxPx / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d')
  if (!context) return undefined
  if (type === 'image/png') {
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    const exact = canvas.toDataURL('image/png')
    if (exact.length <= pngCharactersMax) return exact
  }
  // JPEG has no transparency: transparent parts of an image become white.
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/jpeg', 0.86)
}
