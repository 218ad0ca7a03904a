import { type ComponentProps, memo, useRef } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'
import { CopyButton } from './copy-text.tsx'
import { MarkdownImage } from './markdown-image.tsx'
import styles from './prose.module.css'

export interface MarkdownProps {
  readonly text: string
  /** Half-written marks are closed, so that a growing text does not flicker. */
  readonly streaming?: boolean
  /** The writer is not trusted: images of other sites are loaded when the reader asks for them. */
  readonly untrusted?: boolean
}

const plugins = [remarkGfm]

const components: Components = {
  a: ({ node: _, children, ...rest }) => (
    <a {...rest} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
  pre: ({ node: _, ...rest }) => <CodeBlock {...rest} />,
  table: ({ node: _, ...rest }) => (
    <div className={styles.wide}>
      <table {...rest} />
    </div>
  ),
}

const untrustedComponents: Components = {
  ...components,
  img: ({ src, alt }) => <MarkdownImage address={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
}

/** The parser and its tree; the same text is not parsed twice. */
export const MarkdownBody = memo(function MarkdownBody({ text, streaming = false, untrusted = false }: MarkdownProps) {
  return (
    <ReactMarkdown remarkPlugins={plugins} components={untrusted ? untrustedComponents : components}>
      {streaming ? remend(text) : text}
    </ReactMarkdown>
  )
})

function CodeBlock(props: ComponentProps<'pre'>) {
  const block = useRef<HTMLPreElement>(null)
  return (
    <div className={styles.code}>
      <pre {...props} ref={block} />
      <div className={styles.codeTools}>
        <CopyButton text={() => block.current?.textContent ?? ''} />
      </div>
    </div>
  )
}
