import { ActionIcon, Tooltip } from '@mantine/core'
import { IconArrowsMinimize, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { clamped, moved, type Point, scaleMax, type View, wholeView, zoomed } from './pan-zoom.ts'
import styles from './picture-viewer.module.css'

interface PictureViewerProps {
  readonly src: string
  readonly alt: string
  readonly onError?: () => void
}

const stepPx = 60
const stepFactor = 1.4

/** Shows an image large: the wheel, two fingers, a double click or the keys + − 0 zoom; dragging and the arrow keys move it. */
export function PictureViewer({ src, alt, onError }: PictureViewerProps) {
  const say = useText(texts)
  const frame = useRef<HTMLDivElement>(null)
  const picture = useRef<HTMLImageElement>(null)
  const [view, setView] = useState<View>(wholeView)
  const pointers = useRef(new Map<number, Point>())
  const isWhole = view.scale === 1

  function change(next: (view: View) => View): void {
    setView((before) => {
      const box = frame.current
      const image = picture.current
      if (!box || !image) return before
      return clamped(
        next(before),
        { width: box.clientWidth, height: box.clientHeight },
        { width: image.offsetWidth, height: image.offsetHeight },
      )
    })
  }

  // A listener outside of React, because React's own listeners of the wheel cannot keep the page from scrolling.
  useEffect(() => {
    const box = frame.current
    if (!box) return
    function turn(event: WheelEvent): void {
      event.preventDefault()
      const place = placeIn(event)
      change((before) => zoomed(before, Math.exp(-event.deltaY / 400), place))
    }
    box.addEventListener('wheel', turn, { passive: false })
    return () => box.removeEventListener('wheel', turn)
  })

  function placeIn({ clientX, clientY }: { clientX: number; clientY: number }): Point {
    const box = frame.current?.getBoundingClientRect()
    return box ? { x: clientX - box.x - box.width / 2, y: clientY - box.y - box.height / 2 } : { x: 0, y: 0 }
  }

  function pull(event: PointerEvent): void {
    const before = pointers.current.get(event.pointerId)
    if (!before) return
    const now = placeIn(event)
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1]
    pointers.current.set(event.pointerId, now)
    if (other) {
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }
      const factor = distance(now, other) / Math.max(1, distance(before, other))
      change((held) => zoomed(held, factor, middle))
    } else change((held) => moved(held, { x: now.x - before.x, y: now.y - before.y }))
  }

  function press(event: KeyboardEvent): void {
    const act = keys[event.key]
    if (!act) return
    event.preventDefault()
    change(act)
  }

  return (
    <div className={styles.viewer}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys and the buttons below do the same */}
      <div
        ref={frame}
        className={styles.frame}
        data-whole={isWhole}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that is moved by keys must be reachable
        tabIndex={0}
        onKeyDown={press}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          pointers.current.set(event.pointerId, placeIn(event))
        }}
        onPointerMove={pull}
        onPointerUp={(event) => pointers.current.delete(event.pointerId)}
        onPointerCancel={(event) => pointers.current.delete(event.pointerId)}
        onDoubleClick={(event) => {
          const place = placeIn(event)
          change((before) => (before.scale > 1 ? wholeView : zoomed(before, 2.5, place)))
        }}
      >
        <img
          ref={picture}
          className={styles.picture}
          src={src}
          alt={alt}
          draggable={false}
          referrerPolicy="no-referrer"
          onError={onError}
          style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
        />
      </div>
      <div className={styles.tools}>
        <Tool label={say('zoomOut')} disabled={isWhole} onClick={() => change((before) => zoomed(before, 1 / stepFactor))}>
          <IconZoomOut size={17} stroke={1.6} />
        </Tool>
        <output className={styles.scale} aria-label={say('zoom')}>
          {Math.round(view.scale * 100)}%
        </output>
        <Tool
          label={say('zoomIn')}
          disabled={view.scale >= scaleMax}
          onClick={() => change((before) => zoomed(before, stepFactor))}
        >
          <IconZoomIn size={17} stroke={1.6} />
        </Tool>
        <Tool label={say('zoomWhole')} disabled={isWhole} onClick={() => change(() => wholeView)}>
          <IconArrowsMinimize size={17} stroke={1.6} />
        </Tool>
      </div>
    </div>
  )
}

const keys: Readonly<Record<string, (view: View) => View>> = {
  '+': (view) => zoomed(view, stepFactor),
  '=': (view) => zoomed(view, stepFactor),
  '-': (view) => zoomed(view, 1 / stepFactor),
  '0': () => wholeView,
  ArrowLeft: (view) => moved(view, { x: stepPx, y: 0 }),
  ArrowRight: (view) => moved(view, { x: -stepPx, y: 0 }),
  ArrowUp: (view) => moved(view, { x: 0, y: stepPx }),
  ArrowDown: (view) => moved(view, { x: 0, y: -stepPx }),
}

const distance = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y)

function Tool({
  label,
  disabled,
  onClick,
  children,
}: {
  label: string
  disabled: boolean
  onClick: () => void
  children: ReactNode
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={disabled} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  )
}
