/** The position of an image in its frame: scaled around the centre, and moved. Positions are pixels from the centre of the frame. */

export interface View {
  readonly scale: number
  readonly x: number
  readonly y: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

export const wholeView: View = { scale: 1, x: 0, y: 0 }
export const scaleMax = 8

/** The view scaled by a factor, with `point` staying in place. Never smaller than the whole image. */
export function zoomed(view: View, factor: number, point: Point = { x: 0, y: 0 }): View {
  const scale = Math.min(scaleMax, Math.max(1, view.scale * factor))
  const change = scale / view.scale
  return { scale, x: point.x - (point.x - view.x) * change, y: point.y - (point.y - view.y) * change }
}

export function moved(view: View, by: Point): View {
  return { ...view, x: view.x + by.x, y: view.y + by.y }
}

/** The view moved so that no edge of the image is further in than the edge of the frame; a smaller image is centred. */
export function clamped(view: View, frame: { width: number; height: number }, picture: { width: number; height: number }): View {
  const room = (shown: number, held: number) => Math.max(0, (shown * view.scale - held) / 2)
  const within = (place: number, most: number) => Math.min(most, Math.max(-most, place))
  return {
    scale: view.scale,
    x: within(view.x, room(picture.width, frame.width)),
    y: within(view.y, room(picture.height, frame.height)),
  }
}
