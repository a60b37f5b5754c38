/* html_embed.c - the files of html/ as bytes, a NUL behind each. */
#define EMBED(name, file)                                                                                    \
    __asm__(".section .rodata\n.globl " #name "\n.hidden " #name "\n" #name ":\n.incbin \"" MG_HTML "/" file \
            "\"\n.byte 0\n.previous\n");
EMBED(mg_html_page, "page.html")
EMBED(mg_html_style, "page.css")
EMBED(mg_html_script, "page.js")
EMBED(mg_html_draw, "draw.js")
EMBED(mg_html_views, "views.js")
typedef int mg_html_embed; /* a file of asm alone is not C */
