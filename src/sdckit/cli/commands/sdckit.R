# sdckit from R: data frames in, data frames out. Needs the program sdckit and the package jsonlite.
#
#   source(system2("sdckit", "r-functions", stdout = TRUE))
#   sdc_measure("k_anonymity", survey, keys = c("sex", "age"), k = c(3, 5))
#
# Options are those of the command line (sdckit assess --help), with underscores: a vector is a list of names or
# numbers, a named one a value by name, TRUE a switch, a data frame a file. `data` is a data frame, or the path of a
# file in any format that the program reads. A scenario or a recipe is a path, or a list as its TOML file has it.
# options(sdckit.program = "...") says where the program is, if it is not on the path.

sdc_assess <- function(data, ...) {
  .sdc_run(function(folder) {
    table <- file.path(folder, "figures.csv")
    .sdc_call(c("assess", "--quiet", "--table", table), data, list(...), folder)
    .sdc_table(table)
  })
}

sdc_check <- function(data, scenario, ...) {
  .sdc_run(function(folder) {
    table <- file.path(folder, "verdicts.csv")
    code <- .sdc_call(c("check", "--quiet", "--table", table), data, list(scenario = scenario, ...), folder, 0:2)
    if (!file.exists(table)) stop("no verdicts were written", call. = FALSE)
    structure(.sdc_table(table), passed = code == 0)
  })
}

sdc_measure <- function(measure, data, ...) {
  .sdc_run(function(folder) {
    table <- file.path(folder, "figures.csv")
    .sdc_call(c(gsub("_", "-", measure), "--table", table), data, list(...), folder)
    .sdc_table(table)
  })
}

sdc_protect <- function(recipe, data, ...) {
  .sdc_run(function(folder) {
    out <- file.path(folder, "protected.csv")
    recipe <- .sdc_toml(recipe, folder, "recipe", steps = TRUE)
    .sdc_call(c("protect", "--quiet", "--out", out, "--", recipe), data, list(...), folder)
    .sdc_records(out, data)
  })
}

sdc_synthesize <- function(data, ...) {
  .sdc_run(function(folder) {
    out <- file.path(folder, "synthetic.csv")
    options <- list(...)
    # Where all is text, only who names the columns says that the first line of a CSV is no record.
    if (is.data.frame(data) && is.null(options$columns) && !any(vapply(data, is.numeric, NA))) {
      options$columns <- setdiff(names(data), options$identifiers)
    }
    .sdc_call(c("synthesize", "--quiet", "--out", out), data, options, folder)
    .sdc_records(out, data)
  })
}

# A folder of this call's own, which goes with what is in it.
.sdc_run <- function(work) {
  folder <- tempfile("sdckit")
  dir.create(folder, mode = "0700")
  on.exit(unlink(folder, recursive = TRUE))
  work(folder)
}

.sdc_call <- function(words, data, options, folder, allowed = 0L) {
  options <- .sdc_options(options, folder)
  file <- .sdc_file(data, folder, "data")
  # After "--" stand files, before it options.
  ends <- match("--", words, nomatch = length(words) + 1L)
  words <- c(words[seq_len(ends - 1L)], options, .sdc_reading(file, data), "--", words[-seq_len(ends)], file)
  said <- file.path(folder, "said.txt")
  kind <- if (.Platform$OS.type == "windows") "cmd" else "sh"
  code <- suppressWarnings(system2(
    getOption("sdckit.program", "sdckit"), shQuote(words, type = kind), stdout = FALSE, stderr = said
  ))
  lines <- if (file.exists(said)) readLines(said, encoding = "UTF-8", warn = FALSE) else character()
  for (line in grep("^warning: ", lines, value = TRUE)) warning(sub("^warning: ", "", line), call. = FALSE)
  if (!code %in% allowed || (code == 2L && !any(grepl("could not be checked", lines)))) {
    lines <- grep("^warning: ", lines, value = TRUE, invert = TRUE)
    stop(if (length(lines)) paste(sub("^error: ", "", lines), collapse = "\n") else
      "the program sdckit did not start; options(sdckit.program = ...) says where it is", call. = FALSE)
  }
  code
}

# In a file that was written here nothing but an empty field is missing.
.sdc_reading <- function(file, data) if (is.data.frame(data)) "--missing=" else character()

.sdc_options <- function(options, folder) {
  if (length(options) && (is.null(names(options)) || any(names(options) == ""))) {
    stop("options are named: keys = c(\"sex\", \"age\")", call. = FALSE)
  }
  words <- character()
  for (name in names(options)) {
    value <- options[[name]]
    option <- paste0("--", gsub("_", "-", name))
    if (is.null(value) || identical(value, FALSE)) next
    if (identical(value, TRUE)) {
      words <- c(words, option)
    } else if (name == "scenario") {
      words <- c(words, option, .sdc_toml(value, folder, name))
    } else if (name == "recipe") {
      words <- c(words, option, .sdc_toml(value, folder, name, steps = TRUE))
    } else if (is.data.frame(value)) {
      words <- c(words, option, .sdc_file(value, folder, name))
    } else if (is.list(value) && is.data.frame(value[[1]])) {
      for (i in seq_along(value)) words <- c(words, option, .sdc_file(value[[i]], folder, paste0(name, "_", i)))
    } else if (!is.null(names(value))) {
      for (one in names(value)) words <- c(words, option, paste0(one, "=", .sdc_words(value[[one]])))
    } else {
      words <- c(words, paste0(option, "=", .sdc_words(value)))
    }
  }
  words
}

.sdc_words <- function(value) {
  paste(if (is.numeric(value)) .sdc_number(value) else as.character(value), collapse = ",")
}

# The shortest of 15 to 17 digits that is read as the same number.
.sdc_number <- function(x) {
  text <- sprintf("%.15g", x)
  for (digits in c("%.16g", "%.17g")) {
    other <- is.finite(x) & suppressWarnings(as.numeric(text)) != x
    text[other] <- sprintf(digits, x[other])
  }
  text[is.infinite(x)] <- ifelse(x[is.infinite(x)] > 0, "inf", "-inf")
  text
}

.sdc_file <- function(data, folder, name) {
  if (!is.data.frame(data)) {
    if (is.character(data) && length(data) == 1L && file.exists(data)) return(normalizePath(data))
    stop(name, " is a data frame, or the path of a file that is there", call. = FALSE)
  }
  columns <- lapply(names(data), function(column) .sdc_field(data[[column]], column))
  file <- file.path(folder, paste0(name, ".csv"))
  head <- paste0("\"", gsub("\"", "\"\"", enc2utf8(names(data))), "\"", collapse = ",")
  open <- file(file, "wb")
  on.exit(close(open))
  lines <- if (nrow(data)) do.call(paste, c(columns, sep = ",")) else character()
  writeLines(c(head, lines), open, useBytes = TRUE)
  file
}

.sdc_field <- function(x, name) {
  if (is.list(x) || is.matrix(x) || is.complex(x)) {
    stop("column ", name, " holds lists or matrices; make it text or numbers", call. = FALSE)
  }
  if (inherits(x, "POSIXt")) {
    text <- format(x, "%Y-%m-%dT%H:%M:%S")
  } else if (is.numeric(x) && !is.object(x)) {
    if (any(is.infinite(x))) stop("column ", name, " holds infinite numbers; make them NA", call. = FALSE)
    text <- if (is.integer(x)) format(x, trim = TRUE, scientific = FALSE) else .sdc_number(x)
  } else if (is.logical(x)) {
    text <- tolower(as.character(x))
  } else {
    text <- enc2utf8(as.character(x))
    if (any(text == "", na.rm = TRUE)) {
      stop("column ", name, " holds empty texts, which a CSV cannot tell from NA; make them NA or a word",
           call. = FALSE)
    }
    if (anyDuplicated(.sdc_numbers(unique(text[!is.na(text)])))) {
      stop("column ", name, " holds texts that are the same number, such as 1.5 and 1.50; make them words or numbers",
           call. = FALSE)
    }
    text <- paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\"")
  }
  text[is.na(x)] <- ""
  text
}

# Texts that a CSV gives back as numbers, as these; none where one text is a word or begins with 0.
.sdc_numbers <- function(text) {
  if (all(grepl("^[+-]?([1-9][0-9]*|0?)([.][0-9]*)?([eE][+-]?[0-9]+)?$", text))) as.numeric(text) else numeric()
}

# A list as TOML: names and values as the file has them, steps of a recipe one after the other.
.sdc_toml <- function(value, folder, name, steps = FALSE) {
  if (!is.list(value)) return(.sdc_file(value, folder, name))
  lines <- if (steps) {
    unlist(lapply(value, function(step) c("[[steps]]", .sdc_entries(step))))
  } else {
    .sdc_entries(value)
  }
  file <- file.path(folder, paste0(name, ".toml"))
  writeLines(enc2utf8(lines), file, useBytes = TRUE)
  file
}

.sdc_quoted <- function(x) as.character(jsonlite::toJSON(jsonlite::unbox(enc2utf8(x))))

.sdc_entries <- function(value) {
  vapply(names(value), function(name) paste(.sdc_quoted(name), "=", .sdc_value(value[[name]], name)), "",
         USE.NAMES = FALSE)
}

.lists <- c("keys", "columns", "sensitive", "numeric", "magnitudes", "number_groups", "identifiers", "insensitive",
            "missing_codes", "bands", "ordered")

.sdc_value <- function(x, name = "") {
  if (!is.null(names(x))) return(paste0("{", paste(.sdc_entries(as.list(x)), collapse = ", "), "}"))
  parts <- if (is.list(x)) {
    vapply(x, .sdc_value, "")
  } else if (is.character(x) || is.factor(x)) {
    vapply(as.character(x), .sdc_quoted, "", USE.NAMES = FALSE)
  } else if (is.logical(x)) {
    tolower(as.character(x))
  } else {
    .sdc_number(x)
  }
  if (length(parts) == 1L && !is.list(x) && !name %in% .lists) parts else
    paste0("[", paste(parts, collapse = ", "), "]")
}

.sdc_table <- function(file) {
  fields <- utils::read.csv(file, na.strings = "", check.names = FALSE, encoding = "UTF-8", stringsAsFactors = FALSE)
  for (name in intersect(names(fields), c("limit", "n_records", "value"))) fields[[name]] <- as.numeric(fields[[name]])
  fields
}

# Columns come back as they went: factors with the levels that are still there, in their order.
.sdc_records <- function(file, before) {
  fields <- utils::read.csv(file, na.strings = character(), check.names = FALSE, encoding = "UTF-8",
                            colClasses = "character", blank.lines.skip = FALSE)
  for (name in names(fields)) {
    was <- if (is.data.frame(before)) before[[name]]
    fields[[name]] <- .sdc_column(fields[[name]], was)
  }
  fields
}

.sdc_column <- function(text, was) {
  text[text == ""] <- NA
  if (is.factor(was) || is.character(was)) {
    known <- unique(as.character(was[!is.na(was)]))
    if (length(numbers <- .sdc_numbers(known))) {
      same <- match(suppressWarnings(as.numeric(text)), numbers)
      text[!is.na(same)] <- known[same[!is.na(same)]]
    }
  }
  if (is.factor(was)) {
    there <- unique(text[!is.na(text)])
    known <- levels(was)[levels(was) %in% there]
    return(factor(text, c(known, sort(setdiff(there, known))), ordered = is.ordered(was) && setequal(known, there)))
  }
  if (is.character(was)) return(text)
  if (is.logical(was) && all(text %in% c("true", "false", NA))) return(text == "true")
  if (inherits(was, "Date")) {
    dates <- as.Date(text, optional = TRUE)
    return(if (identical(is.na(dates), is.na(text))) dates else text)
  }
  kept <- utils::type.convert(text, as.is = TRUE, na.strings = character())
  if (is.double(was) && is.integer(kept)) as.double(kept) else kept
}
